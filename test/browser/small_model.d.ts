export function trainSmallModel(tf: unknown, emb: unknown): Promise<unknown>;
