// Fills the switch of versions from the list beside the folders of all releases. A site that is
// opened from a disk, or alone, has no such list, and shows its own version only.
document.addEventListener("DOMContentLoaded", async () => {
  const choice = document.querySelector("#versions");
  if (!choice) return;
  const root = new URL(choice.dataset.root, location.href);
  const own = choice.value;
  try {
    const versions = await (await fetch(new URL("../versions.json", root))).json();
    choice.replaceChildren(...versions.map((one) => new Option(one, one, false, one === own)));
  } catch {
    return;
  }
  choice.addEventListener("change", async () => {
    const other = new URL(`../${choice.value}/`, root);
    const same = new URL(choice.dataset.page, other);
    const there = await fetch(same, { method: "HEAD" });
    location.href = there.ok ? same : new URL("index.html", other);
  });
});
