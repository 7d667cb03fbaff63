/**
 * Fields on which a recorded step may depend though no op shows them: those of layers, optimizers and models. A step is
 * repeated only while all of them are as they were.
 */
type Holder = Record<PropertyKey, unknown>;

interface Watched {
  readonly holder: Holder;
  readonly field: PropertyKey;
  readonly value: unknown;
}

/** Lists longer than this are watched as a whole only. */
const LONGEST_LIST = 32;

export class WatchedFields {
  readonly #watched: Watched[] = [];

  add(holder: object, field: PropertyKey): void {
    const value = (holder as Holder)[field];
    this.#watched.push({ holder: holder as Holder, field, value });
    if (!Array.isArray(value) || value.length > LONGEST_LIST) return;
    this.add(value, 'length');
    value.forEach((_, i) =>
      this.#watched.push({ holder: value as unknown as Holder, field: i, value: (value as unknown[])[i] }),
    );
  }

  /** All fields of its own, without those that `skip` names. `within`: objects whose fields are added too. */
  addAll(holder: object, skip: ReadonlySet<string>, within: (value: object) => boolean = () => false): void {
    for (const [field, value] of Object.entries(holder)) {
      if (skip.has(field)) continue;
      this.add(holder, field);
      if (value !== null && typeof value === 'object' && within(value as object))
        this.addAll(value as object, skip, within);
    }
  }

  /** The first field that is not as it was; null: none. */
  changed(): string | null {
    for (const { holder, field, value } of this.#watched) if (!Object.is(holder[field], value)) return String(field);
    return null;
  }
}
