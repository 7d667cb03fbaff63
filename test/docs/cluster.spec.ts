/** The page of tables on servers: its figures are the planner's, its file for containers is one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import * as emb from 'tfjs-embeddings';
import { parseDocument } from 'yaml';
import { bytesText, secondsText } from '../../src/base/units.js';
import { ROOT } from '../helpers/project.js';

const PAGE = readFileSync(join(ROOT, 'docs', 'cluster.md'), 'utf8');

function blockOf(mark: string): string {
  return PAGE.split(`\n\`\`\`${mark}\n`)[1]!.split('\n```\n')[0]!;
}

/** The cells of the lines of a table, by how its title line begins. */
function tableOf(head: string): string[][] {
  const lines = PAGE.split('\n');
  const first = lines.findIndex((line) => line.startsWith(`| ${head}`));
  const end = lines.findIndex((line, place) => place > first && !line.startsWith('|'));
  return lines.slice(first + 2, end).map((line) => {
    return line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
  });
}

/** The arguments of the page's own program. */
function planned(): { plan: emb.EmbeddingPlan; args: emb.PlanEmbeddingArgs } {
  const program = blockOf('js').replace(/^import .*$/m, '');
  let given: emb.PlanEmbeddingArgs | undefined;
  const planEmbedding = (args: emb.PlanEmbeddingArgs): emb.EmbeddingPlan => emb.planEmbedding((given = args));
  const run = compileFunction(`${program}\nreturn plan;`, ['emb', 'console']);
  const plan = run({ planEmbedding }, { log: () => {} }) as emb.EmbeddingPlan;
  return { plan, args: given! };
}

function stepsText(steps: number): string {
  return `${steps.toPrecision(3)} steps/s`;
}

/** Loopback, as it was measured beside. */
const LOOPBACK = { bandwidth: 3e9, latency: 2e-4 };

describe('The page of tables on servers', () => {
  const { plan, args } = planned();
  const cluster = (
    changes: Partial<emb.PlanEmbeddingArgs>,
    network: Partial<emb.PlanNetworkArgs>,
  ): emb.ClusterPrediction =>
    emb.planEmbedding({ ...args, ...changes, network: { ...args.network!, ...network } }).cluster!;

  it('has 1 TB of tables, and twice that with slots, on its servers', () => {
    const elements = args.tables.reduce((sum, { inputDim, outputDim }) => sum + inputDim * outputDim, 0);
    expect(4 * elements).toBe(1.024e12);
    expect(PAGE).toContain('1.02 TB');
    expect(PAGE).toContain(bytesText(8 * elements));
    for (const { memory } of plan.cluster!.servers) {
      expect([bytesText(memory.tables), bytesText(memory.slots)]).toEqual(['64.0 GB', '64.0 GB']);
    }
    expect(PAGE).toContain('64.0 GB of tables and 64.0 GB of slots each');
    // 410 MB in 1.4 s.
    expect(Math.round((128e9 / 410e6) * (1.4 / 60))).toBe(7);
    expect(PAGE).toContain('the 128 GB of a server take 7 minutes to save');
  });

  it('says what a step takes, by how tables are cut and rows travel', () => {
    const lines = tableOf('tables cut by');
    expect(lines.length).toBe(4);
    const columns = { columnSliceThreshold: 4e9 };
    const rows = { columnSliceThreshold: null, rowSliceThreshold: 1e9 };
    const kinds = [columns, columns, rows, rows];
    lines.forEach(([cut, exchange, ...told], line) => {
      expect(cut).toMatch(line < 2 ? /^columns/ : /^rows/);
      const sent = { exchange: exchange!.replaceAll('`', '') as 'float32' };
      const [few, many] = [16, 32].map((clients) => cluster(kinds[line]!, { ...sent, clients }));
      expect(told).toEqual([
        bytesText(few!.bytesToServers),
        bytesText(few!.bytesFromServers),
        secondsText(few!.lookupSeconds),
        secondsText(few!.updateSeconds),
        stepsText(few!.stepsPerSecond),
        stepsText(many!.stepsPerSecond),
      ]);
      expect(few!.limit.resource).toBe('clients');
      expect(many!.limit.resource).toBe('work of a server');
    });
    const wide = cluster({ worldSize: 32, columnSliceThreshold: 2e9 }, { clients: 64 }).stepsPerSecond;
    const narrow = cluster({}, { clients: 64 }).stepsPerSecond;
    expect(PAGE).toContain(`32 servers allow ${Math.round(wide)} steps a second where 16 allow ${Math.round(narrow)}`);
  });

  it('puts predictions beside what was measured', () => {
    const tables = Array.from({ length: 26 }, () => ({ inputDim: 100_000, outputDim: 64, combiner: 'sum' as const }));
    const measured = {
      tables,
      worldSize: 2,
      hotness: tables.map(() => 10),
      batchSize: 4096,
      columnSliceThreshold: null,
    };
    const { servers, lookupSeconds, updateSeconds } = cluster(measured, { clients: 1, ...LOOPBACK, denseSeconds: 0 });
    const all = (bytes: (server: emb.ServerPrediction) => number): string => {
      return bytesText(servers.reduce((sum, server) => sum + bytes(server), 0));
    };
    expect(tableOf('of a step').map((line) => line.at(-1))).toEqual([
      all(({ lookup }) => lookup.bytesIn),
      all(({ lookup }) => lookup.bytesIn + lookup.bytesOut),
      all(({ update }) => update.bytesIn + update.bytesOut),
      bytesText(servers[0]!.memory.tables + servers[0]!.memory.slots),
      secondsText(lookupSeconds),
      secondsText(updateSeconds),
    ]);
  });

  it('has a file for two servers and a trainer, which reach each other alone', () => {
    const document = parseDocument(blockOf('yaml not run'), { strict: true });
    expect(document.errors).toEqual([]);
    expect(document.warnings).toEqual([]);
    const { services, networks, volumes } = document.toJS() as {
      services: Record<
        string,
        {
          command: string;
          environment?: Record<string, string>;
          networks: string[];
          volumes?: string[];
          depends_on?: string[];
        }
      >;
      networks: Record<string, { internal: boolean }>;
      volumes: Record<string, object>;
    };
    expect(Object.keys(services)).toEqual(['ps0', 'ps1', 'trainer']);
    expect(networks).toEqual({ tables: { internal: true } });
    for (const { networks: used } of Object.values(services)) expect(used).toEqual(Object.keys(networks));
    const { cluster: known } = JSON.parse(services['trainer']!.environment!['TF_CONFIG']!) as {
      cluster: { ps: string[] };
    };
    known.ps.forEach((address, task) => {
      const { command, volumes: mounted } = services[`ps${task}`]!;
      expect(command).toContain(`server --task ps:${task} --listen ${address} `);
      expect(command).toContain('--network-is-private');
      expect(mounted!.map((each) => each.split(':')[0])).toEqual(Object.keys(volumes));
    });
    expect(services['trainer']!.depends_on).toEqual(['ps0', 'ps1']);
  });
});
