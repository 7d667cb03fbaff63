/** The HTTP interface. */
import Fastify, { type FastifyInstance } from 'fastify';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { InputError } from '../input_error.mjs';
import type { AppendQueue } from './append_queue.js';
import { EVENTS_SCHEMA, NAME, type NewEvent } from './event.js';
import type { Gauges } from './gauges.js';
import type { Recommender } from './recommender.js';

export interface ServerParts {
  readonly recommender: Recommender;
  readonly gauges: Gauges;
  /** Where events go; null: they are refused here. */
  readonly queue: AppendQueue | null;
  /** The items that a user had, the newest first. */
  readonly historyOf: (user: string) => Promise<string[]>;
  /** Items of a recommendation that asks for no other number. */
  readonly k: number;
  /** What /status tells beside the model. */
  readonly status: () => object;
}

const USER = { type: 'object', properties: { user: NAME } } as const;
const ASKED = {
  type: 'object',
  additionalProperties: false,
  properties: {
    k: { type: 'string', pattern: '^([1-9][0-9]{0,2}|1000)$' },
    // A replica has no events, and a visitor may have none yet: items that the user had, the newest first.
    history: { anyOf: [NAME, { type: 'array', items: NAME, maxItems: 1000 }] },
  },
} as const;

const { resolve } = createRequire(import.meta.url);
/** The page, and the library that draws its curves. */
const PAGE = [
  ['/', 'text/html; charset=utf-8', readFileSync(new URL('./page/index.html', import.meta.url))],
  ['/uplot.js', 'text/javascript', readFileSync(resolve('uplot/dist/uPlot.iife.min.js'))],
  ['/uplot.css', 'text/css', readFileSync(resolve('uplot/dist/uPlot.min.css'))],
] as const;

export function makeServer({ recommender, gauges, queue, historyOf, k, status }: ServerParts): FastifyInstance {
  // A number that is sent as a name is a mistake of the client's, not a name; so is a field that nothing reads.
  const server = Fastify({
    bodyLimit: 2 ** 22,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
  });
  server.addHook('onResponse', (request, reply, done) => {
    const labels = { route: request.routeOptions.url ?? 'none', status: String(reply.statusCode) };
    gauges.answers.observe(labels, reply.elapsedTime / 1000);
    done();
  });
  for (const [path, type, file] of PAGE) server.get(path, (_request, reply) => reply.type(type).send(file));
  server.post<{ Body: NewEvent | NewEvent[] }>(
    '/events',
    { schema: { body: EVENTS_SCHEMA } },
    async (request, reply) => {
      if (queue === null) return reply.code(409).send({ error: 'this process follows another one: events go there' });
      const events = Array.isArray(request.body) ? request.body : [request.body];
      const last = await queue.append(events);
      gauges.accepted.inc(events.length);
      return reply.code(201).send({ kept: events.length, last });
    },
  );
  server.get<{ Params: { user: string }; Querystring: { k?: string; history?: string | string[] } }>(
    '/recommend/:user',
    { schema: { params: USER, querystring: ASKED } },
    async ({ params: { user }, query }) => {
      const history = query.history === undefined ? await historyOf(user) : [query.history].flat();
      const items = await recommender.recommend(user, history, Number(query.k ?? k));
      return { user, batch: recommender.follower.position.batch, items };
    },
  );
  server.get('/status', () => ({ model: recommender.follower.position, ...status() }));
  server.get('/points', () => gauges.points);
  server.get('/metrics', async (_request, reply) =>
    reply.type(gauges.registry.contentType).send(await gauges.registry.metrics()),
  );
  return server;
}

/** Listens; throws InputError where the port is taken. Returns the address. */
export async function listen(server: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await server.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    throw new InputError(`port ${port} cannot be used: ${code}; choose another by --port`);
  }
}
