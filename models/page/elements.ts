/** Elements of the page: found by id, or made. */

type Child = Node | string;

/** The element of an id, which `index.html` has. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** A new element with properties and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<Omit<HTMLElementTagNameMap[K], 'style'>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** A select with a label; `options`: pairs of value and text. */
export function selectOf(
  properties: { readonly id?: string; readonly ariaLabel?: string },
  options: readonly (readonly [value: string, text: string])[],
  chosen: string,
): HTMLSelectElement {
  const select = element(
    'select',
    properties,
    ...options.map(([value, textContent]) => element('option', { value, textContent })),
  );
  select.value = chosen;
  return select;
}

/** A labelled field. */
export const field = (label: string, input: HTMLElement): HTMLLabelElement =>
  element('label', { className: 'field' }, label, input);

/** A row of a table: its header, then cells. */
export function tableRow(header: Child, ...cells: (readonly [className: string, child: Child])[]): HTMLTableRowElement {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, header),
    ...cells.map(([className, child]) => element('td', { className }, child)),
  );
}

/** A table with a caption for readers of the screen. */
export function table(label: string, head: readonly string[], rows: readonly HTMLTableRowElement[]): HTMLTableElement {
  const heads = head.map((textContent) => {
    return element('th', { scope: 'col', textContent, className: textContent.toLowerCase() });
  });
  const made = element('table', { ariaLabel: label });
  if (head.length > 0) made.append(element('thead', {}, element('tr', {}, ...heads)));
  made.append(element('tbody', {}, ...rows));
  return made;
}

/** The value of a colour of the style sheet, as it is now. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Colours that tell runs and groups apart. */
export const COLOURS = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'] as const;
