/** Rows of several features as the rows of one stack, core after core, and back. */

/** Where the samples of a feature lie in those of its stack, and how wide its rows are. */
export interface FeatureRows {
  readonly samples: number;
  readonly sampleOffset: number;
  readonly columns: number;
}

/** A stack of features on `cores` cores; rows of features are padded to `columns`. */
export interface StackRows {
  readonly cores: number;
  readonly samples: number;
  readonly columns: number;
}

/** Calls `visit` for each stretch of rows of a feature: how many there are, and where they begin here and there. */
function eachStretch(
  feature: FeatureRows,
  { cores, samples }: StackRows,
  visit: (rows: number, inFeature: number, inStack: number) => void,
): void {
  const rows = feature.samples / cores;
  for (let core = 0; core < cores; core++) {
    visit(rows, core * rows, core * (samples / cores) + feature.sampleOffset / cores);
  }
}

/** Writes the rows of a feature [samples, columns] into those of the stack; what pads them is left alone. */
export function interleave(feature: FeatureRows, source: Float32Array, stack: StackRows, target: Float32Array): void {
  const { columns } = feature;
  eachStretch(feature, stack, (rows, inFeature, inStack) => {
    for (let row = 0; row < rows; row++) {
      const from = (inFeature + row) * columns;
      target.set(source.subarray(from, from + columns), (inStack + row) * stack.columns);
    }
  });
}

/** The rows of a feature [samples, columns] out of those of the stack. */
export function extract(feature: FeatureRows, source: Float32Array, stack: StackRows): Float32Array {
  const { columns, samples } = feature;
  const target = new Float32Array(samples * columns);
  eachStretch(feature, stack, (rows, inFeature, inStack) => {
    for (let row = 0; row < rows; row++) {
      const from = (inStack + row) * stack.columns;
      target.set(source.subarray(from, from + columns), (inFeature + row) * columns);
    }
  });
  return target;
}
