/**
 * The places of dense variables in a stock optimizer, whose state is a list in the order of gradients. Variables that
 * were loaded keep theirs until they have a gradient again, however layers were frozen before and after.
 */
import * as tf from '@tensorflow/tfjs';
import { isAnonymous } from '../lookup/training/variable_names.js';
import type { NamedTensor } from '../base/types.js';

interface Place {
  name: string;
  /** The shape of loaded state that still waits for its variable; null once it has one. */
  waits: readonly number[] | null;
}

/** tfjs adds a number to a name that is taken, such as that of the model which was saved. */
function withoutNumber(name: string): string {
  return name.replace(/_\d+$/, '');
}

/** State by kind, from names `<variable>/<kind>`; null where kinds are not of one length, as stock ones are. */
function byKind(state: readonly NamedTensor[]): Map<string, NamedTensor[]> | null {
  const kinds = new Map<string, NamedTensor[]>();
  for (const entry of state) {
    const kind = entry.name.slice(entry.name.lastIndexOf('/') + 1);
    kinds.set(kind, [...(kinds.get(kind) ?? []), entry]);
  }
  const lengths = new Set([...kinds.values()].map(({ length }) => length));
  return lengths.size > 1 ? null : kinds;
}

export class DenseOrder {
  readonly #places: Place[] = [];
  /** Names of variables that have a place. */
  readonly #placed = new Set<string>();

  get isEmpty(): boolean {
    return this.#places.length === 0;
  }

  clear(): void {
    this.#places.length = 0;
    this.#placed.clear();
  }

  /** One entry per place, with a null gradient for those that have none now: stock optimizers skip it. */
  arrange(gradients: readonly NamedTensor[]): { name: string; tensor: tf.Tensor | null }[] {
    const byName = new Map(gradients.map(({ name, tensor }) => [name, tensor]));
    const fresh = gradients.filter(({ name }) => !this.#placed.has(name));
    // A model that was built anew may have other names throughout: then places go by order and shape.
    const areKnown = fresh.some((each) => this.#waitingFor(each, true) !== undefined);
    for (const each of fresh) {
      const place = this.#waitingFor(each, areKnown);
      this.#placed.add(each.name);
      if (place === undefined) this.#places.push({ name: each.name, waits: null });
      else [place.name, place.waits] = [each.name, null];
    }
    return this.#places.map(({ name, waits }) => ({
      name,
      tensor: waits === null ? (byName.get(name) ?? null) : null,
    }));
  }

  /** The loaded place of a variable. */
  #waitingFor({ name, tensor }: NamedTensor, byName: boolean): Place | undefined {
    const fits = this.#places.filter(
      ({ waits }) => waits !== null && tf.util.arraysEqual(waits as number[], tensor.shape),
    );
    if (!byName) return fits[0];
    if (isAnonymous(name)) return fits.find((place) => isAnonymous(place.name));
    const stem = withoutNumber(name);
    return fits.find((place) => place.name === name) ?? fits.find((place) => withoutNumber(place.name) === stem);
  }

  /** State under the names of its variables; without that of variables that are gone. */
  named(state: readonly NamedTensor[]): NamedTensor[] {
    const kinds = byKind(state);
    if (kinds === null) return [...state];
    const { registeredVariables } = tf.engine();
    return [...kinds].flatMap(([kind, entries]) =>
      entries.flatMap(({ name, tensor }, at) => {
        const place = this.#places[at];
        if (place === undefined) return [{ name, tensor }];
        const isGone = place.waits === null && registeredVariables[place.name] === undefined;
        return isGone ? [] : [{ name: `${place.name}/${kind}`, tensor }];
      }),
    );
  }

  /** Takes the places of loaded state. */
  restore(state: readonly NamedTensor[]): void {
    this.clear();
    const first = [...(byKind(state)?.values() ?? [])][0] ?? [];
    for (const { name, tensor } of first) {
      this.#places.push({ name: name.slice(0, name.lastIndexOf('/')), waits: [...tensor.shape] });
    }
  }
}
