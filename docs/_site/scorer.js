// What a search of the site finds first: pages, then the names of the Python reference.
// eslint-disable-next-line no-unused-vars
var Scorer = {
  score: ([docname, , , , score]) => score - (docname.startsWith("api/") ? 100 : 0),
  objNameMatch: 6, objPartialMatch: 2, objPrio: { 0: 2, 1: 0, 2: -5 }, objPrioDefault: 0,
  title: 40, partialTitle: 25, term: 8, partialTerm: 3,
};
