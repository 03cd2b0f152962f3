// Keys, focus, notices and selections of the labelling page. Every form works without this script.
"use strict";
(() => {
  const TYPING = "input:not([type=checkbox], [type=file]), textarea, select";
  const byId = (id) => document.getElementById(id);
  const inCase = (key, shift) =>
    key.length !== 1 ? key : shift && /\p{L}/u.test(key) ? key.toUpperCase() : key.toLowerCase();

  // Keys: a key clicks what has it as data-key, in the focused entry of a list if there is one.
  // Capital letters need the shift key: caps lock alone never answers for a whole group.
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.target.closest(TYPING)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "Enter" && event.target.matches("[type=checkbox]")) event.preventDefault();
    const key = inCase(event.key, event.shiftKey);
    if (byId("help").matches(":popover-open") && key !== "?") return;
    const scopes = [event.target.closest("[data-entry]"), document].filter(Boolean);
    const found = scopes
      .flatMap((scope) => [...scope.querySelectorAll("[data-key]")])
      .find((element) => element.dataset.key === key && !element.disabled);
    if (!found) return;
    event.preventDefault();
    found.click();
  });

  // Notices: short messages that screen readers read when they are idle.
  let timer;
  function notify(text, seconds) {
    const notice = byId("notice");
    notice.textContent = text;
    notice.classList.add("shown");
    clearTimeout(timer);
    timer = setTimeout(() => notice.classList.remove("shown"), 1000 * seconds);
  }

  // After a swap: focus the heading of a new card, announce a new round, keep the panel open.
  let card = byId("card");
  let round = Number(byId("panel")?.dataset.round ?? 0);
  let isPanelOpen = false;
  let lastPanel = "";

  function followCard() {
    const last = card;
    card = byId("card");
    if (!card || card === last || !(card.dataset.row || last?.dataset.row)) return;
    if (document.activeElement !== document.body && !card.contains(document.activeElement)) return;
    byId("card-title").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  function followPanel() {
    const panel = byId("panel");
    if (!panel) return;
    if (isPanelOpen) byId("panel-details").open = true;
    const newRound = Number(panel.dataset.round);
    if (newRound > round) notify(`Round ${newRound}: new questions`, 8);
    round = newRound;
  }

  document.addEventListener("toggle", (event) => {
    if (event.target.id === "panel-details") isPanelOpen = event.target.open;
    const isQuestion = byId("next-form") !== null; // on the page of a row, groups are open
    if (event.target.open && isQuestion) event.target.closest("#group")?.scrollIntoView();
  }, true);
  document.addEventListener("htmx:afterSettle", () => {
    followCard();
    followPanel();
    countGroup(); // the rows of a group are loaded when they are opened
  });

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (document.hidden && event.detail.elt.id === "panel") event.preventDefault();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, xhr, requestConfig, isError } = event.detail;
    if (isError) return;
    if (target.id === "panel") {
      // An unchanged panel keeps its focus and its alerts are not read again.
      if (xhr.responseText === lastPanel) event.detail.shouldSwap = false;
      lastPanel = xhr.responseText;
    } else {
      lastPanel = "";
    }
    if (requestConfig.path === "/answer") {
      const [answer, group] = requestConfig.formData.get("answer").split("+");
      const n = 1 + requestConfig.formData.getAll("also").length;
      const what = group && n > 1 ? `${n} rows` : byId("card-title").textContent;
      notify(`Saved: ${what}, ${answer}`, 3);
    }
    if (requestConfig.path === "/undo") notify("Last answer undone", 3);
  });

  // Errors: the card stays, and the banner says what was not saved until something is.
  function warn(event, message) {
    const isSaving = event.detail.requestConfig.verb !== "get";
    const banner = byId("banner");
    if (!isSaving && banner.dataset.saving === "true" && !banner.hidden) return;
    banner.textContent = `${isSaving ? "Not saved" : "Not up to date"}: ${message}`;
    banner.dataset.saving = isSaving;
    banner.hidden = false;
  }

  function messageOf(xhr) {
    const type = xhr.getResponseHeader("Content-Type") ?? "";
    const fallback = `the server answered with status ${xhr.status}.`;
    if (type.startsWith("text/html")) {
      const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
      return page.getElementById("message")?.textContent.trim() || fallback;
    }
    if (type.startsWith("application/json")) {
      const { error, detail } = JSON.parse(xhr.responseText);
      const text = error?.message ?? error ?? detail;
      return typeof text === "string" ? text : fallback;
    }
    return xhr.responseText.slice(0, 300) || fallback;
  }

  document.addEventListener("htmx:responseError", (event) => warn(event, messageOf(event.detail.xhr)));
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => warn(event, "no response. Is the program still running?"));
  }
  document.addEventListener("htmx:afterRequest", (event) => {
    const banner = byId("banner");
    const isSaving = event.detail.requestConfig.verb !== "get";
    if (event.detail.successful && (isSaving || banner.dataset.saving === "false")) banner.hidden = true;
  });

  // Selections: select all, the number selected, rows taken out of a group.
  function countSelected() {
    const boxes = [...document.querySelectorAll("input[name=rows]")];
    const n = boxes.filter((box) => box.checked).length;
    for (const element of document.querySelectorAll("[data-selected]")) element.textContent = n;
    for (const button of document.querySelectorAll("[data-needs-selection]")) button.disabled = n === 0;
    const all = document.querySelector("[data-select-all]");
    if (!all) return;
    all.checked = n > 0 && n === boxes.length;
    all.indeterminate = n > 0 && n < boxes.length;
  }

  function countGroup() {
    const n = 1 + document.querySelectorAll("input[name=also]:is(:checked, [type=hidden])").length;
    for (const element of document.querySelectorAll("[data-group-count]")) {
      element.textContent = n;
      element.closest("button").disabled = n === 1;
    }
  }

  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches("[data-select-all]")) {
      for (const other of document.querySelectorAll("input[name=rows]")) other.checked = box.checked;
    }
    if (box.matches("[data-select-all], input[name=rows]")) countSelected();
    if (box.matches("input[name=also]")) countGroup();
  });

  // Filter: rows of a list whose text contains what is typed.
  document.addEventListener("input", (event) => {
    if (!event.target.matches("[data-filter]")) return;
    const wanted = event.target.value.trim().toLowerCase();
    for (const row of document.querySelectorAll("[data-filter-text]")) {
      row.hidden = !row.dataset.filterText.toLowerCase().includes(wanted);
    }
  });

  countSelected();
})();
