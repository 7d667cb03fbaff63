/** A constraint that update kernels apply to touched rows. */
export interface RowConstraint {
  /** `axis`: a norm along another axis than 1, which rows alone cannot keep. */
  readonly kind: 'nonNeg' | 'rowNorm' | 'axis';
  readonly min: number;
  readonly max: number;
  readonly rate: number;
}
