/** The part of a batch that each device begins with, as on a machine whose devices each read their own samples. */

/** Where the part of each device begins in `count` bags; the last entry is `count`. Parts differ by at most one bag. */
export function batchParts(count: number, devices: number): Int32Array {
  const starts = new Int32Array(devices + 1);
  const least = Math.floor(count / devices);
  const longer = count % devices;
  for (let device = 0; device <= devices; device++) starts[device] = device * least + Math.min(device, longer);
  return starts;
}
