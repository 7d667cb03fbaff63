/** Layers of volumes, whose steps TensorFlow.js counts otherwise than Keras where windows do not touch. */
import { layerError, type NamedLayer } from './layer_error.js';

/** With a config of Keras. */
interface VolumeLayer extends NamedLayer {
  readonly config: Readonly<Record<string, unknown>>;
}

/** Where a step is longer than the window, TensorFlow.js begins volumes with padding 'same' before their first place. */
export function checkVolume({ className, config, name }: VolumeLayer): void {
  if (!/^(Conv3D|MaxPooling3D|AveragePooling3D)/.test(className) || config['padding'] !== 'same') return;
  const sizes = (field: string): number[] => [config[field]].flat(2).filter((each) => typeof each === 'number');
  const windows = sizes(className.startsWith('Conv') ? 'kernel_size' : 'pool_size');
  const bad = sizes('strides').find((stride, axis) => stride > (windows[axis] ?? windows[0] ?? stride));
  if (bad === undefined) return;
  throw layerError({ className, name }, 'strides', "steps no longer than the window where padding is 'same'", bad);
}
