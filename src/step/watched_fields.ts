/**
 * Fields on which a recorded step may depend though no op shows them: those of layers, optimizers and models. A step is
 * repeated only while all of them are as they were.
 */
type Holder = Record<PropertyKey, unknown>;

interface Watched {
  readonly holder: Holder;
  readonly field: PropertyKey;
  readonly value: unknown;
  /** What people are told that changed. */
  readonly name: string;
}

/** Lists longer than this are watched as a whole only. */
const LONGEST_LIST = 32;
/** Methods by which layers and their parts compute. */
const METHODS = ['call', 'apply', 'computeMask'];

export class WatchedFields {
  readonly #watched: Watched[] = [];

  add(holder: object, field: PropertyKey, name = String(field)): void {
    const value = (holder as Holder)[field];
    this.#watched.push({ holder: holder as Holder, field, value, name });
    if (!Array.isArray(value) || value.length > LONGEST_LIST) return;
    this.add(value, 'length', name);
    value.forEach((_, i) =>
      this.#watched.push({ holder: value as unknown as Holder, field: i, value: (value as unknown[])[i], name }),
    );
  }

  /** Its methods and all fields of its own, without those that `skip` names. `within`: objects whose fields are added too. */
  addAll(holder: object, skip: ReadonlySet<string>, within: (value: object) => boolean = () => false): void {
    for (const method of METHODS) if (method in holder) this.add(holder, method);
    for (const [field, value] of Object.entries(holder)) {
      if (skip.has(field)) continue;
      this.add(holder, field);
      if (value !== null && typeof value === 'object' && within(value as object))
        this.addAll(value as object, skip, within);
    }
  }

  /** The name of the first field that is not as it was; null: none. */
  changed(): string | null {
    const found = this.#watched.find(({ holder, field, value }) => !Object.is(holder[field], value));
    return found?.name ?? null;
  }
}
