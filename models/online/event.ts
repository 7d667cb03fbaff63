/** Events: who had what. */

/** As a client sends it. */
export interface NewEvent {
  readonly user: string;
  readonly item: string;
  /** Of the client's choice: an event that is sent again under the same key is kept once. */
  readonly key?: string | null;
}

/** As it is kept. Ids ascend in the order in which events were kept. */
export interface Event {
  readonly id: number;
  readonly user: string;
  readonly item: string;
}

/** What a database and a table of strings can both hold: no NUL, no half of a surrogate pair. */
export const NAME = { type: 'string', minLength: 1, maxLength: 512, pattern: '^[^\\u0000\\ud800-\\udfff]*$' } as const;

const ONE = {
  type: 'object',
  required: ['user', 'item'],
  additionalProperties: false,
  properties: { user: NAME, item: NAME, key: { ...NAME, nullable: true } },
} as const;

/** What POST /events takes: an event, or a list of them, as JSON schema. */
export const EVENTS_SCHEMA = { anyOf: [ONE, { type: 'array', minItems: 1, maxItems: 10_000, items: ONE }] } as const;
