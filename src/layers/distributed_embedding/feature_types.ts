/**
 * The types of what a `DistributedEmbedding` takes and gives. `S` is the structure of its features with the combiner of
 * each at its end (null: none); any where the types do not tell.
 */
import type * as tf from '@tensorflow/tfjs';
import type { IdsInput, WeightsInput } from '../../ids/parse_ids.js';
import type { Combiner } from '../../base/types.js';
import type { DistributedItemArgs } from './features.js';
import type { Embedding } from '../embedding/embedding.js';
import type { FeatureConfig } from '../../tables/feature_config.js';
import type { LookedUp } from '../embedding/looked_up.js';
import type { RaggedEmbedding } from '../embedding/ragged_embedding.js';

/** `T`s in objects and arrays of any depth; `[]` makes TypeScript see arrays as tuples. */
export type Nested<T> = T | [] | readonly Nested<T>[] | { readonly [key: string]: Nested<T> };

/** `FeatureConfig`s in objects and arrays of any depth. */
export type NestedFeatures = Nested<FeatureConfig<Combiner | null>>;

/** The structure with a `T` for each feature, as it comes in: lists may be of a length that the types do not tell. */
export type Given<S, T> = unknown extends S
  ? Nested<T>
  : S extends Combiner | null
    ? T
    : S extends readonly unknown[]
      ? readonly Given<S[number], T>[] | []
      : { readonly [K in keyof S]: Given<S[K], T> };

/** Ids in the structure. */
export type GivenIds<S> = unknown extends S ? unknown : Given<S, IdsInput>;

/** The results for symbolic ids: in the same structure. */
export type Symbolic<S, Ids> = unknown extends S
  ? Ids
  : S extends Combiner | null
    ? tf.SymbolicTensor
    : { -readonly [K in keyof S]: Symbolic<S[K], unknown> };

/** The results for concrete ids, which were given in the structure. */
export type AllLookedUp<S, Ids> = unknown extends S
  ? unknown
  : S extends Combiner | null
    ? LookedUp<S, Ids>
    : { -readonly [K in keyof S]: AllLookedUp<S[K], K extends keyof Ids ? Ids[K] : unknown> };

/** Weights in the structure; null for a feature, or a branch, that has none. */
export type GivenWeights<S> = unknown extends S
  ? unknown
  : | null
    | (S extends Combiner | null
        ? WeightsInput
        : S extends readonly unknown[]
          ? readonly GivenWeights<S[number]>[]
          : { readonly [K in keyof S]?: GivenWeights<S[K]> | undefined });

/** Further arguments of a call. */
export interface FeatureKwargs<S> {
  weights?: GivenWeights<S> | undefined;
  [argument: string]: unknown;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any structure is one of these
export type AnyStructure = any;

/** The structure in which inputs come: with `dpInput: false` by device. */
export type InputsOf<D extends boolean, S> = [D] extends [true] ? S : AnyStructure;

/** The structure of `FeatureConfig`s with their combiners. */
export type CombinersOf<F> = NestedFeatures extends F
  ? AnyStructure
  : F extends FeatureConfig<infer C>
    ? C
    : { -readonly [K in keyof F]: CombinersOf<F[K]> };

/** The combiners of a list of items: those of layers of this package, and those of plain arguments. */
export type CombinersOfItems<Items extends readonly unknown[]> = { -readonly [K in keyof Items]: CombinerOf<Items[K]> };

type CombinerOf<Item> = Item extends Embedding<infer C> | RaggedEmbedding<infer C>
  ? C
  : Item extends { readonly combiner: infer C }
    ? C extends Combiner
      ? C
      : null
    : null;

/** Items, of which none has a field that is none: TypeScript does not look for such where it infers a type. */
export type KnownFields<Items extends readonly unknown[]> = {
  readonly [K in keyof Items]: Items[K] extends tf.layers.Layer ? Items[K] : KnownFieldsOf<Items[K]>;
};

type KnownFieldsOf<Item> = [Exclude<keyof Item, keyof DistributedItemArgs>] extends [never] ? Item : never;
