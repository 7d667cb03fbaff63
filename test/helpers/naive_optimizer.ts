/**
 * The row-sparse optimizers once more, from their documentation alone and in doubles: rows as lists, fields as users give
 * them. It shares nothing with the package, so that a field that is ignored there is not ignored here too.
 */

export type Matrix = number[][];

/** The fields of `emb.train.*`, where `undefined` stands for the documented default. */
export interface NaiveConfig {
  learningRate?: number | ((step: number) => number);
  initialAccumulatorValue?: number;
  momentum?: number;
  useNesterov?: boolean;
  nesterov?: boolean;
  exponent?: number;
  beta1?: number;
  beta2?: number;
  epsilon?: number;
  rho?: number;
  centered?: boolean;
  biasCorrection?: boolean;
  amsgrad?: boolean;
  sumInsideSqrt?: boolean;
  lazy?: boolean;
  learningRatePower?: number;
  l1?: number;
  l2?: number;
  beta?: number;
  multiplyLinearByLearningRate?: boolean;
  clipValue?: number | readonly [number | null, number | null];
  clipNorm?: number;
  clipWeightMin?: number;
  clipWeightMax?: number;
  weightDecay?: number;
  multiplyWeightDecayByLearningRate?: boolean;
}

export type NaiveName =
  'sgd' | 'adagrad' | 'rowWiseAdagrad' | 'adagradMomentum' | 'adam' | 'ftrl' | 'adamW' | 'rmsprop';

/** Steps one table. Rows that are not in the gradient are not touched. */
export class NaiveOptimizer {
  readonly #first = new Map<number, number[]>();
  readonly #second = new Map<number, number[]>();
  readonly #third = new Map<number, number[]>();
  #steps = 0;

  constructor(
    private readonly name: NaiveName,
    private readonly config: NaiveConfig,
  ) {}

  /** `gradient`: by row. */
  step(table: Matrix, gradient: ReadonlyMap<number, readonly number[]>): void {
    const rate = this.#rate();
    this.#steps++;
    const scaled = this.#clipped(gradient);
    for (let row = 0; row < table.length; row++) {
      const g = scaled.get(row);
      if (g !== undefined) {
        this.#decay(table[row]!, rate);
        this.#update(row, table[row]!, g, rate);
        this.#limit(table[row]!);
      } else if (this.config.lazy === false) {
        if (this.name === 'adamW') this.#decay(table[row]!, rate);
        this.#update(
          row,
          table[row]!,
          table[row]!.map(() => 0),
          rate,
        );
        this.#limit(table[row]!);
      }
    }
  }

  #rate(): number {
    const { learningRate } = this.config;
    if (typeof learningRate === 'function') return learningRate(this.#steps);
    const isFast = ['sgd', 'adagrad', 'rowWiseAdagrad'].includes(this.name);
    return learningRate ?? (isFast ? 0.01 : 0.001);
  }

  #clipped(gradient: ReadonlyMap<number, readonly number[]>): Map<number, number[]> {
    const { clipNorm = Infinity, clipValue } = this.config;
    const norm = Math.hypot(...[...gradient.values()].flat());
    const factor = norm > clipNorm ? clipNorm / norm : 1;
    const [low, high] = typeof clipValue === 'number' ? [-clipValue, clipValue] : (clipValue ?? [null, null]);
    const clip = (g: number): number => Math.min(Math.max(g * factor, low ?? -Infinity), high ?? Infinity);
    return new Map([...gradient].map(([row, values]) => [row, values.map(clip)]));
  }

  #decay(row: number[], rate: number): void {
    const isDecoupled = this.name === 'adamW';
    const { weightDecay = isDecoupled ? 0.004 : 0, multiplyWeightDecayByLearningRate = isDecoupled } = this.config;
    const lost = multiplyWeightDecayByLearningRate ? weightDecay * rate : weightDecay;
    row.forEach((w, c) => (row[c] = (1 - lost) * w));
  }

  #limit(row: number[]): void {
    const { clipWeightMin = -Infinity, clipWeightMax = Infinity } = this.config;
    row.forEach((w, c) => (row[c] = Math.min(Math.max(w, clipWeightMin), clipWeightMax)));
  }

  #slot(slots: Map<number, number[]>, row: number, length: number, start: number): number[] {
    if (!slots.has(row)) slots.set(row, new Array<number>(length).fill(start));
    return slots.get(row)!;
  }

  #update(row: number, w: number[], g: readonly number[], rate: number): void {
    const { length } = w;
    switch (this.name) {
      case 'sgd': {
        const { momentum = 0, nesterov = false } = this.config;
        const m = this.#slot(this.#first, row, length, 0);
        return g.forEach((each, c) => {
          m[c] = momentum * m[c]! - rate * each;
          w[c]! += nesterov && momentum > 0 ? momentum * m[c] - rate * each : m[c];
        });
      }
      case 'adagrad': {
        const { initialAccumulatorValue = 0.1, epsilon = 1e-7 } = this.config;
        const a = this.#slot(this.#first, row, length, initialAccumulatorValue);
        return g.forEach((each, c) => {
          a[c]! += each ** 2;
          w[c]! -= (rate * each) / Math.sqrt(a[c]! + epsilon);
        });
      }
      case 'rowWiseAdagrad': {
        const { initialAccumulatorValue = 0.1, epsilon = 1e-7 } = this.config;
        const a = this.#slot(this.#first, row, 1, initialAccumulatorValue);
        a[0]! += g.reduce((sum, each) => sum + each ** 2, 0) / length;
        return g.forEach((each, c) => (w[c]! -= (rate * each) / Math.sqrt(a[0]! + epsilon)));
      }
      case 'adagradMomentum':
        return this.#adagradMomentum(row, w, g, rate);
      case 'adam':
      case 'adamW':
        return this.#adam(row, w, g, rate);
      case 'rmsprop':
        return this.#rmsprop(row, w, g, rate);
      case 'ftrl':
        return this.#ftrl(row, w, g, rate);
    }
  }

  #adagradMomentum(row: number, w: number[], g: readonly number[], rate: number): void {
    const { initialAccumulatorValue = 0, momentum = 0, useNesterov = false, exponent = 2 } = this.config;
    const { beta2 = 1, epsilon = 1e-10 } = this.config;
    const a = this.#slot(this.#first, row, w.length, initialAccumulatorValue);
    const m = this.#slot(this.#second, row, w.length, 0);
    g.forEach((each, c) => {
      a[c] = beta2 === 1 ? a[c]! + each ** 2 : beta2 * a[c]! + (1 - beta2) * each ** 2;
      const scaled = each / (a[c] + epsilon) ** (1 / exponent);
      m[c] = momentum * m[c]! + scaled;
      w[c]! -= rate * (useNesterov ? momentum * m[c] + scaled : m[c]);
    });
  }

  #adam(row: number, w: number[], g: readonly number[], rate: number): void {
    const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7, biasCorrection = true, sumInsideSqrt = false } = this.config;
    const { amsgrad = false } = this.config;
    const most = this.#slot(this.#third, row, w.length, 0);
    const m = this.#slot(this.#first, row, w.length, 0);
    const v = this.#slot(this.#second, row, w.length, 0);
    const [left1, left2] = biasCorrection ? [1 - beta1 ** this.#steps, 1 - beta2 ** this.#steps] : [1, 1];
    g.forEach((each, c) => {
      m[c] = beta1 * m[c]! + (1 - beta1) * each;
      // As kernels take it: beside 1, what is left of it has few bits.
      const decay = Math.fround(beta2);
      v[c] = decay * v[c]! + (1 - decay) * each ** 2;
      most[c] = Math.max(most[c]!, v[c]);
      if (amsgrad || this.name === 'adamW') {
        const alpha = (rate * Math.sqrt(left2)) / left1;
        const square = amsgrad ? most[c] : v[c];
        w[c]! -= (alpha * m[c]) / (sumInsideSqrt ? Math.sqrt(square + epsilon ** 2) : Math.sqrt(square) + epsilon);
        return;
      }
      const square = v[c] / left2;
      const root = sumInsideSqrt ? Math.sqrt(square + epsilon ** 2) : Math.sqrt(square) + epsilon;
      w[c]! -= (rate * m[c]) / left1 / root;
    });
  }

  #rmsprop(row: number, w: number[], g: readonly number[], rate: number): void {
    const { rho = 0.9, momentum = 0, epsilon = 1e-7, centered = false } = this.config;
    const v = this.#slot(this.#first, row, w.length, 0);
    const mean = this.#slot(this.#second, row, w.length, 0);
    const m = this.#slot(this.#third, row, w.length, 0);
    g.forEach((each, c) => {
      v[c] = rho * v[c]! + (1 - rho) * each ** 2;
      mean[c] = rho * mean[c]! + (1 - rho) * each;
      const step = (rate * each) / Math.sqrt(v[c] - (centered ? mean[c] ** 2 : 0) + epsilon);
      m[c] = momentum * m[c]! + step;
      w[c]! -= m[c];
    });
  }

  #ftrl(row: number, w: number[], g: readonly number[], rate: number): void {
    const { initialAccumulatorValue = 0.1, learningRatePower = -0.5, l1 = 0, l2 = 0, beta = 0 } = this.config;
    if (rate === 0) return;
    const n = this.#slot(this.#first, row, w.length, initialAccumulatorValue);
    const linear = this.#slot(this.#second, row, w.length, 0);
    // With the switch on, linear and everything that it meets are times the rate.
    const unit = this.config.multiplyLinearByLearningRate === true ? rate : 1;
    g.forEach((each, c) => {
      const before = n[c]! ** -learningRatePower;
      n[c]! += each ** 2;
      const after = n[c]! ** -learningRatePower;
      linear[c]! += unit * each - (unit / rate) * (after - before) * w[c]!;
      const z = linear[c]!;
      const shrunk = Math.sign(z) * Math.max(Math.abs(z) - unit * l1, 0);
      w[c] = -shrunk / ((unit / rate) * (after + beta) + unit * 2 * l2);
    });
  }
}
