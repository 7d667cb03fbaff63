/** Where the bars of a page begin and end, and where their marks stand. */
import { loadSection, memorySection } from '../../../src/report/page/device_bars.js';
import { reportData, type ReportData, type ReportDevice } from '../../../src/report/report_data.js';
import { sourceOf } from '../report_sources.js';

/** Bars are 260 wide. */
const WIDTH = 260;

type DeviceChanges = Partial<Omit<ReportDevice, 'memory'>> & { readonly memory?: Partial<ReportDevice['memory']> };

/** The data of a machine with one device for each of `changes`. */
function dataOf(changes: readonly DeviceChanges[], lookUps = 1): ReportData {
  const data = reportData(sourceOf({ tables: [{ inputDim: 9, outputDim: 4 }], worldSize: changes.length }), null);
  const devices = data.devices.map((device, number) => {
    const change = changes[number]!;
    return { ...device, ...change, memory: { ...device.memory, ...change.memory } };
  });
  return { ...data, devices, counted: { ...data.counted, lookUps } };
}

/** The values of an attribute of the elements of a class, in order; without those of the legend. */
function places(markup: string, className: string, attribute: string): number[] {
  const bars = markup.slice(markup.indexOf('<table'));
  return [...bars.matchAll(/<(?:rect|line)((?: [a-z0-9-]+="[^"]*")*)/g)]
    .map(([, attributes]) => attributes!)
    .filter((attributes) => attributes.includes(` class="${className}"`))
    .map((attributes) => Number(new RegExp(` ${attribute}="([^"]*)"`).exec(attributes)![1]));
}

describe('Bars of devices', () => {
  it('elements end at those of the busiest device, and the mark stands at the mean', () => {
    const section = loadSection(dataOf([{ elements: 400 }, { elements: 100 }]));
    expect(places(section, 'bar', 'width')).toEqual([WIDTH, WIDTH / 4]);
    expect(places(section, 'mark', 'x1').slice(0, 1)).toEqual([(WIDTH * 250) / 400]);
    expect(section).toContain('<title>mean 250</title>');
  });

  it('bytes received begin where bytes sent end', () => {
    const section = loadSection(
      dataOf([
        { bytesOut: 3000, bytesIn: 1000 },
        { bytesOut: 500, bytesIn: 1500 },
      ]),
    );
    expect(places(section, 'second', 'x')).toEqual([WIDTH * 0.75, WIDTH / 8]);
    expect(places(section, 'second', 'width')).toEqual([WIDTH / 4, (WIDTH * 3) / 8]);
    // Nothing was read: its marks stand at the edge. The mean of 4000 and 2000 bytes is three quarters of the most.
    expect(places(section, 'mark', 'x1')).toEqual([1, WIDTH * 0.75, 1, WIDTH * 0.75]);
  });

  it('nothing is drawn before the first lookup', () => {
    const section = loadSection(dataOf([{ elements: 4 }], 0));
    expect(section).toContain('Nothing was looked up or updated yet.');
    expect(section).not.toContain('<svg');
  });

  it('slots begin where tables end, and exchange where slots end', () => {
    const memory = { tables: 100, slots: 200, exchange: 100, peak: 500, capacity: null };
    const section = memorySection(dataOf([{ memory }]));
    const width = (bytes: number): number => (WIDTH * bytes) / 500;
    expect(places(section, 'tables', 'x')).toEqual([0]);
    expect(places(section, 'slots', 'x')).toEqual([width(100)]);
    expect(places(section, 'exchange', 'x')).toEqual([width(300)]);
    expect(places(section, 'exchange', 'width')).toEqual([width(100)]);
    expect(places(section, 'mark', 'x1')).toEqual([WIDTH - 1]);
    expect(places(section, 'limit', 'x1')).toEqual([]);
  });

  it('a limit of up to four times the peak is drawn, and one beyond it is told', () => {
    const memory = { tables: 1000, slots: 0, exchange: 0, peak: 1000 };
    const near = memorySection(dataOf([{ memory: { ...memory, capacity: 4000 } }]));
    expect(places(near, 'limit', 'x1')).toEqual([WIDTH - 1]);
    expect(places(near, 'tables', 'width')).toEqual([WIDTH / 4]);
    expect(near).toContain('the red one the limit.');
    expect(near).not.toContain('beyond the bars');

    const far = memorySection(dataOf([{ memory: { ...memory, capacity: 4001 } }]));
    expect(places(far, 'limit', 'x1')).toEqual([]);
    expect(places(far, 'tables', 'width')).toEqual([WIDTH]);
    expect(far).toContain('lies beyond the bars.');
    expect(far).not.toContain('the red one');
  });

  it('a limit is drawn for the devices that have one', () => {
    const memory = { tables: 1000, slots: 0, exchange: 0, peak: 1000 };
    const section = memorySection(dataOf([{ memory: { ...memory, capacity: null } }, { memory: { ...memory, capacity: 2000 } }])); // prettier-ignore
    expect(places(section, 'limit', 'x1')).toEqual([WIDTH - 1]);
    expect(section).toContain('<td>none</td>');
    expect(section).toContain('<td>2.00 kB</td>');
  });

  it('a limit below what is used lies within the bars', () => {
    const memory = { tables: 1000, slots: 0, exchange: 0, peak: 1000, capacity: 500 };
    expect(places(memorySection(dataOf([{ memory }])), 'limit', 'x1')).toEqual([WIDTH / 2]);
  });
});
