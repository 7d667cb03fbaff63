/** Small saves that tell whether they are whole: every part of one holds the same number. */
import { spawnSync } from 'node:child_process';
import type * as tf from '@tensorflow/tfjs';
import { loadModel } from '../../../src/io/models/model_file.js';
import { partsOf, saveModel } from '../../../src/io/models/model_folder.js';

const VALUES = 500;

export function numberedArtifacts(number: number): tf.io.ModelArtifacts {
  return {
    modelTopology: { class_name: 'Sequential', config: { name: `model_${number}`, layers: [] }, number },
    format: 'layers-model',
    generatedBy: 'a spec',
    convertedBy: null,
    weightSpecs: [
      { name: `a${number}`, shape: [VALUES], dtype: 'float32' },
      { name: `b${number}`, shape: [VALUES], dtype: 'int32', group: 'optimizer' },
    ],
    weightData: [new Float32Array(VALUES).fill(number).buffer, new Int32Array(VALUES).fill(number).buffer],
  };
}

export function saveNumber(folder: string, number: number, fileBytes?: number): Promise<tf.io.SaveResult> {
  return saveModel(folder, partsOf(numberedArtifacts(number)), fileBytes);
}

/** The number of the save in a folder. Throws where its parts are not of one save. */
export async function loadNumber(folder: string): Promise<number> {
  const { modelTopology, weightSpecs, weightData } = await loadModel(`${folder}/model.json`);
  const { number } = modelTopology as { number: number };
  const floats = new Float32Array(weightData as ArrayBuffer, 0, VALUES);
  const whole = new Int32Array(weightData as ArrayBuffer, VALUES * 4, VALUES);
  const names = weightSpecs!.map(({ name }) => name);
  const isWhole = floats.every((value) => value === number) && whole.every((value) => value === number);
  if (isWhole && String(names) === `a${number},b${number}`) return number;
  throw new Error(`the topology of save ${number} with weights ${String(names)}: ${floats[0]}, ${whole[0]}`);
}

/** The number of a process that is no more. */
export function deadProcess(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}
