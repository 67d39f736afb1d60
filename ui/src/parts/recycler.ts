import { visible } from "./visible";

/** How one column shows a row: text always, and a class that may depend on it. */
export interface Column<Row> {
  title: string;
  /** A CSS grid track: `92px`, `minmax(80px, 1fr)`. */
  width: string;
  /** Left out where there is little room. */
  spare?: boolean;
  /** How it does with very little. */
  tight?: { width?: string; text?(row: Row): string };
  text(row: Row): string;
  look?(row: Row): string;
  /** Makes it a column of checkboxes: whether the row's is set. The text is then its name. */
  checked?(row: Row): boolean;
}

/** Rows by place, the first on top. */
export interface Rows<Row> {
  readonly length: number;
  at(index: number): Row | undefined;
}

interface Slot<Row> {
  element: HTMLElement;
  cells: { element: HTMLElement; text: Text; box: HTMLElement | null }[];
  texts: string[];
  looks: string[];
  index: number;
  row: Row | undefined;
  selected: boolean;
  marked: boolean;
}

/**
 * Shows a window of rows with a fixed set of elements. An element belongs to a place on the screen,
 * never to a row: rows that pour in change texts, and no element is made, moved in the tree or thrown
 * away. That is what keeps ten thousand rows a second cheap.
 */
export class Recycler<Row> {
  readonly #body: HTMLElement;
  readonly #columns: Column<Row>[];
  readonly #rowHeight: number;
  readonly #id: string;
  #slots: Slot<Row>[] = [];
  #height = -1;

  /** Fills `body`, which scrolls inside its parent; `id` begins the ids of its rows. */
  constructor(body: HTMLElement, columns: Column<Row>[], rowHeight: number, id: string) {
    this.#body = body;
    this.#columns = columns;
    this.#rowHeight = rowHeight;
    this.#id = id;
  }

  /** Shows what is visible. Returns the id of the selected row's element, if it is visible. */
  paint(
    rows: Rows<Row>,
    view: { top: number; height: number; tight?: boolean },
    isSelected: (row: Row) => boolean,
    isMarked: (row: Row) => boolean = () => false,
  ): string | null {
    const height = rows.length * this.#rowHeight;
    if (height !== this.#height) {
      this.#height = height;
      this.#body.style.height = `${String(height)}px`;
    }
    const first = Math.max(0, Math.floor(view.top / this.#rowHeight));
    const needed = Math.ceil(view.height / this.#rowHeight) + 1;
    while (this.#slots.length < needed) this.#slots.push(this.#makeSlot(this.#slots.length));

    let active: string | null = null;
    for (let i = first; i < first + this.#slots.length; i++) {
      const slot = this.#slots[i % this.#slots.length];
      if (slot === undefined) continue;
      const row = i < first + needed ? rows.at(i) : undefined;
      this.#fill(slot, i, row, row !== undefined && isSelected(row), view.tight === true);
      this.#mark(slot, row !== undefined && isMarked(row));
      if (slot.selected) active = slot.element.id;
    }
    return active;
  }

  /** The row and place that an element inside the table shows now. */
  shownAt(element: Element): { row: Row; index: number } | null {
    const slot = this.#slots.find((each) => each.element.contains(element));
    return slot?.row === undefined ? null : { row: slot.row, index: slot.index };
  }

  #makeSlot(number: number): Slot<Row> {
    const element = document.createElement("div");
    element.className = "row";
    element.id = `${this.#id}-${String(number)}`;
    element.setAttribute("role", "row");
    element.hidden = true;
    const cells = this.#columns.map((column) => {
      const cell = document.createElement("span");
      cell.setAttribute("role", "gridcell");
      cell.className = className(column, "");
      const text = document.createTextNode("");
      const box = column.checked === undefined ? null : makeBox();
      cell.append(box ?? text);
      element.append(cell);
      return { element: cell, text, box };
    });
    this.#body.append(element);
    return {
      element,
      cells,
      texts: cells.map(() => ""),
      looks: cells.map(() => ""),
      index: -1,
      row: undefined,
      selected: false,
      marked: false,
    };
  }

  /** One of several that are picked, whether or not it is the one that is open. */
  #mark(slot: Slot<Row>, marked: boolean): void {
    if (slot.marked === marked) return;
    slot.marked = marked;
    slot.element.classList.toggle("marked", marked);
    slot.element.setAttribute("aria-selected", String(marked || slot.selected));
  }

  #fill(
    slot: Slot<Row>,
    index: number,
    row: Row | undefined,
    selected: boolean,
    tight: boolean,
  ): void {
    if (row === undefined) {
      if (slot.row !== undefined) slot.element.hidden = true;
      slot.row = undefined;
      // Whatever it shows next is not selected because this was.
      if (slot.selected) slot.element.setAttribute("aria-selected", "false");
      slot.selected = false;
      return;
    }
    if (slot.row === undefined) slot.element.hidden = false;
    slot.row = row;
    if (slot.index !== index) {
      slot.index = index;
      slot.element.style.transform = `translateY(${String(index * this.#rowHeight)}px)`;
      // The heading is row 1.
      slot.element.setAttribute("aria-rowindex", String(index + 2));
    }
    if (slot.selected !== selected || !slot.element.hasAttribute("aria-selected")) {
      slot.selected = selected;
      slot.element.setAttribute("aria-selected", String(selected || slot.marked));
    }
    for (let c = 0; c < slot.cells.length; c++) {
      const column = this.#columns[c];
      const cell = slot.cells[c];
      if (column === undefined || cell === undefined) continue;
      const written = tight ? column.tight?.text?.(row) : undefined;
      const text = visible(written ?? column.text(row));
      if (slot.texts[c] !== text) {
        slot.texts[c] = text;
        if (cell.box === null) cell.text.data = text;
        else cell.box.setAttribute("aria-label", text);
      }
      if (cell.box !== null) {
        const checked = String(column.checked?.(row) ?? false);
        if (cell.box.getAttribute("aria-checked") !== checked)
          cell.box.setAttribute("aria-checked", checked);
      }
      const look = column.look?.(row) ?? "";
      if (slot.looks[c] !== look) {
        slot.looks[c] = look;
        cell.element.className = className(column, look);
      }
    }
  }
}

/** A checkbox that is painted: the table hears its clicks, and Space sets that of the chosen row. */
function makeBox(): HTMLElement {
  const box = document.createElement("span");
  box.className = "check-box";
  box.setAttribute("role", "checkbox");
  box.setAttribute("aria-checked", "false");
  return box;
}

function className(column: { spare?: boolean; checked?: unknown }, look: string): string {
  const check = column.checked === undefined ? "" : " check";
  return `cell${column.spare === true ? " spare" : ""}${check}${look === "" ? "" : ` ${look}`}`;
}
