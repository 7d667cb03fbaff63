/** What a saved model knows beside its weights: how to read rows of text, and what it predicts. */
import type { LabelColumn } from './data/labels.js';

export interface ModelMetadata {
  /** What `Encoder.getConfig` gave. */
  readonly features: object[];
  readonly label: LabelColumn;
}
