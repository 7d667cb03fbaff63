/** The map: a table as points, and what lies near one of them. */
import type createScatterplot from 'regl-scatterplot';
import type { Neighbour, Projection, Schema } from '../protocol.js';
import { COLOURS, byId, colour, element, table, tableRow } from '../../page/elements.js';

type Scatterplot = ReturnType<typeof createScatterplot>;

export class MapSection {
  #plot: Scatterplot | null = null;
  #shown: Projection | null = null;
  readonly #column = byId<HTMLSelectElement>('map-column');
  readonly #find = byId<HTMLInputElement>('find');

  constructor(
    draw: (column: string) => void,
    private readonly neighbours: (column: string, id: number) => Promise<readonly Neighbour[]>,
  ) {
    byId('draw').addEventListener('click', () => draw(this.#column.value));
    this.#find.addEventListener('change', () => {
      const at = this.#shown?.names.indexOf(this.#find.value) ?? -1;
      if (at >= 0) this.#choose(at, true);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => void this.#paint());
  }

  /** Columns that have values with names; the items first. */
  offer({ features, item }: Schema): void {
    const named = features.filter(({ kind }) => kind !== 'number').map(({ name }) => name);
    const names = [item, ...named.filter((name) => name !== item)];
    this.#column.replaceChildren(...names.map((name) => element('option', { value: name, textContent: name })));
    byId('map').hidden = false;
  }

  clear(): void {
    byId('map').hidden = true;
    byId('map-body').hidden = true;
    this.#shown = null;
  }

  async show(projection: Projection): Promise<void> {
    this.#shown = projection;
    byId('map-body').hidden = false;
    byId('near').replaceChildren();
    this.#find.value = '';
    byId('find-names').replaceChildren(...projection.names.map((value) => element('option', { value })));
    const { names, total, column } = projection;
    const few = names.length < total ? `The ${names.length} commonest of ${total} values of ${column}. ` : '';
    byId('map-note').textContent = `${few}Click a point, or find one by its name, for what is nearest to it.`;
    this.#listGroups(projection);
    await this.#paint();
  }

  #groupNames(): string[] {
    return [...new Set(this.#shown!.groups)].sort();
  }

  #listGroups({ groups }: Projection): void {
    const names = groups.length === 0 ? [] : this.#groupNames();
    const rows = names.map((name, i) => {
      const swatch = element('span', { className: 'swatch' });
      swatch.style.background = `var(--${COLOURS[i % COLOURS.length]!})`;
      return element('li', {}, swatch, name);
    });
    byId('groups').replaceChildren(...rows);
  }

  async #paint(): Promise<void> {
    if (this.#shown === null) return;
    const { places, groups } = this.#shown;
    const groupNames = this.#groupNames();
    const plot = (this.#plot ??= await this.#begin());
    plot.set({
      backgroundColor: colour('card'),
      pointColor: COLOURS.map(colour),
      pointColorActive: colour('text'),
      pointColorHover: colour('text'),
      colorBy: 'valueA',
    });
    const count = places.length / 2;
    const group = Array.from({ length: count }, (_, i) => {
      return groups.length === 0 ? 0 : groupNames.indexOf(groups[i]!) % COLOURS.length;
    });
    const x = Array.from({ length: count }, (_, i) => places[2 * i]!);
    const y = Array.from({ length: count }, (_, i) => places[2 * i + 1]!);
    await plot.draw({ x, y, valueA: group });
  }

  /** What draws is loaded on first use. */
  async #begin(): Promise<Scatterplot> {
    const { default: createScatterplot } = await import('regl-scatterplot');
    const canvas = byId<HTMLCanvasElement>('points');
    // A constant, as types of the package lack `actionKeyMap`.
    const settings = {
      canvas,
      width: 'auto',
      height: 'auto',
      pointSize: 6,
      pointSizeSelected: 3,
      opacity: 0.85,
      lassoOnLongPress: false,
      actionKeyMap: {},
    } as const;
    const plot = createScatterplot(settings);
    plot.subscribe('select', ({ points }: { points: number[] }) => {
      if (points.length > 0) this.#choose(points[0]!, false);
    });
    return plot;
  }

  /** `at`: its place among the points. */
  #choose(at: number, isFound: boolean): void {
    const { ids, names, column } = this.#shown!;
    if (isFound) this.#plot?.select([at], { preventEvent: true });
    this.#find.value = names[at]!;
    void this.neighbours(column, ids[at]!).then((found) => this.#list(names[at]!, found));
  }

  #list(name: string, found: readonly Neighbour[]): void {
    const rows = found.map(({ name: other, score }) => {
      const button = element('button', { type: 'button', textContent: other });
      button.addEventListener('click', () => {
        const at = this.#shown!.names.indexOf(other);
        if (at >= 0) this.#choose(at, true);
      });
      return tableRow(button, ['score', score.toFixed(3)]);
    });
    byId('near').replaceChildren(
      element('h3', { textContent: name }),
      table(`Nearest to ${name}`, ['Nearest', 'Cosine'], rows),
    );
  }
}
