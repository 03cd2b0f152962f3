// Sort, search and fold the rows of the report. Without this script all rows can be read.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const [list, tools, search, sortBy] = ["groups", "tools", "search", "sort-by"].map(byId);
  const [direction, grouped, fold, nFound] = ["direction", "grouped", "fold", "n-found"].map(byId);
  const groups = [...list.querySelectorAll("details.group")];
  const tables = groups.map((group) => group.querySelector("table"));
  const rows = tables.flatMap((table, at) =>
    [...table.tBodies].map((body) => ({
      body,
      table,
      group: groups[at],
      cells: [...body.rows[0].cells],
      text: body.textContent.toLowerCase().replace(/\s+/g, " "),
    })),
  );
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const SCORE = 1; // number of the column that the page is sorted by at first
  let column = SCORE;
  let descending = true;

  // One list of all rows: a copy of a table without its rows.
  const flat = tables[0].closest(".rows-box").cloneNode(true);
  const flatTable = flat.querySelector("table");
  [...flatTable.tBodies].forEach((body) => body.remove());
  flat.hidden = true;
  list.append(flat);

  const key = (row) => {
    const { dataset, textContent } = row.cells[column];
    if (dataset.value === "") return null; // a missing cell, always last
    return "value" in dataset ? Number(dataset.value) : textContent.trim();
  };

  const compare = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const isNumber = typeof a === "number";
    if (isNumber !== (typeof b === "number")) return isNumber ? -1 : 1;
    const order = isNumber ? a - b : collator.compare(a, b);
    return descending ? -order : order;
  };

  const update = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const sorted = rows.map((row) => [key(row), row]).sort((a, b) => compare(a[0], b[0]));
    const shown = new Set();
    let n = 0;
    for (const [, row] of sorted) {
      const found = words.every((word) => row.text.includes(word));
      row.body.hidden = !found;
      (grouped.checked ? row.table : flatTable).append(row.body);
      if (found) {
        n += 1;
        if (!shown.has(row.group)) list.append(row.group);
        shown.add(row.group);
      }
    }
    for (const group of groups) {
      group.hidden = !grouped.checked || !shown.has(group);
      if (words.length && shown.has(group)) group.open = true;
    }
    flat.hidden = grouped.checked;
    fold.hidden = !grouped.checked;
    nFound.value = words.length ? `${n} of ${rows.length} rows` : `${rows.length} rows`;
    sortBy.value = String(column);
    direction.textContent = descending ? "▼" : "▲";
    for (const head of list.querySelectorAll("th[data-sort]")) {
      if (Number(head.dataset.sort) !== column) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    }
  };

  const sortByColumn = (chosen) => {
    descending = chosen === column ? !descending : chosen === SCORE || chosen === SCORE + 1;
    column = chosen;
    update();
  };

  for (const head of list.querySelectorAll("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortByColumn(Number(head.dataset.sort)));
    head.append(button);
  }
  for (const head of tables[0].querySelectorAll("th[data-sort]")) {
    sortBy.append(new Option(head.textContent, head.dataset.sort));
  }
  sortBy.addEventListener("change", () => sortByColumn(Number(sortBy.value)));
  direction.addEventListener("click", () => sortByColumn(column));
  search.addEventListener("input", update);
  grouped.addEventListener("change", update);
  fold.addEventListener("click", () => {
    const open = groups.some((group) => !group.open);
    groups.forEach((group) => { group.open = open; });
    fold.textContent = open ? "Close all" : "Open all";
  });
  addEventListener("beforeprint", () => groups.forEach((group) => { group.open = true; }));
  tools.hidden = false;
  update();
})();
