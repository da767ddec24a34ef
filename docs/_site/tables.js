// A long table stays within the window, is scrolled there, and can be filtered.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("article table.docutils")) {
    const rows = [...table.querySelectorAll("tbody tr")];
    if (rows.length < 60) continue;
    const box = document.createElement("div");
    const field = document.createElement("input");
    const count = document.createElement("span");
    box.className = "long-table";
    field.type = "search";
    field.placeholder = `Filter ${rows.length} rows`;
    field.setAttribute("aria-label", field.placeholder);
    const where = table.closest(".table-wrapper") ?? table;
    where.before(field, count, box);
    box.tabIndex = 0;
    box.append(where);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = words.length ? ` ${shown} rows` : "";
    });
  }
  // A link to a row shows it.
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.closest(".long-table")) target.scrollIntoView();
});
