// What a search of the site finds first: pages whose title has the words, then other pages, then
// the names of the Python reference.
const asked = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().match(/\w{3,}/g) ?? [];
const inTitle = (title) => asked.filter((word) => title.toLowerCase().includes(word.slice(0, 6))).length;
// eslint-disable-next-line no-unused-vars
var Scorer = {
  score: ([docname, title, , , score]) =>
    score + 10 * inTitle(title) - (docname.startsWith("api/") ? 100 : 0),
  objNameMatch: 6, objPartialMatch: 2, objPrio: { 0: 2, 1: 0, 2: -5 }, objPrioDefault: 0,
  title: 40, partialTitle: 25, term: 8, partialTerm: 3,
};
