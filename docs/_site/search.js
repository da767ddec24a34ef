// Searches the pages of the site with lunr, and lists the results. docs/site/search.py makes the data.
// Return the words that distinguish pages, as _find_terms in search.py does.
const findTerms = (words) => {
  const terms = (words.toLowerCase().match(/[\p{L}\p{N}_.]+/gu) ?? [])
    .map((term) => term.replace(/^\.+|\.+$/g, ""))
    .filter(Boolean);
  const rare = terms.filter((term) => lunr.stopWordFilter(new lunr.Token(term)));
  return rare.length ? rare : terms;
};

// Return the results that match any of the words, the best first, as find_pages in search.py does.
const findPages = (index, words) => {
  const terms = findTerms(words);
  if (!terms.length) return [];
  const query = terms.map((term) => `${term}^8${term.length < 3 ? "" : ` ${term}*`}`).join(" ");
  const stems = terms.map((term) => lunr.stemmer(new lunr.Token(term)).toString());
  return index
    .search(query)
    .map((result) => {
      const found = Object.keys(result.matchData.metadata);
      const matches = (term, i) =>
        found.some((word) => word === stems[i] || word.startsWith(term));
      return { ...result, score: result.score * terms.filter(matches).length };
    })
    .sort((a, b) => b.score - a.score);
};

document.addEventListener("DOMContentLoaded", () => {
  const words = new URLSearchParams(location.search).get("q") ?? "";
  const place = document.getElementById("search-results");
  for (const field of document.querySelectorAll(".sidebar-search")) field.value = words;
  const terms = findTerms(words);
  const results = findPages(lunr.Index.load(SEARCH.index), words);

  const add = (parent, tag, text) => {
    const element = document.createElement(tag);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  add(place, "h1", "Search");
  if (!terms.length) return add(place, "p", "Type what you are looking for into the search field.");
  add(place, "h2", results.length ? `${results.length} pages for "${words}"` : `No page for "${words}"`);
  if (!results.length) {
    add(place, "p", "Try another word, or see the overview and the guides in the navigation.");
  }
  const list = add(place, "ul", "");
  list.className = "search";
  for (const result of results.slice(0, 40)) {
    const [title, summary, headings] = SEARCH.pages[result.ref];
    const item = add(list, "li", "");
    const link = add(item, "a", title);
    link.href = `${result.ref}.html`;
    const where = add(item, "span", result.ref);
    where.className = "search-page";
    if (summary) add(item, "p", summary);
    const fits = headings.filter((heading) =>
      terms.some((term) => term.length > 3 && heading.toLowerCase().includes(term.slice(0, 6))),
    );
    if (fits.length) add(item, "p", fits.slice(0, 4).join(" · ")).className = "search-headings";
  }
});
