export function startDevices(tf: unknown, emb: unknown, settings: object): Promise<void>;
export function trainDistributedModel(tf: unknown, emb: unknown): Promise<unknown>;
