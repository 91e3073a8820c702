import type { FastifyReply } from 'fastify';

/**
 * Returns a function that returns a signal, which aborts when the response is closed: sent, or given up by the caller.
 * The signal is created on the first call, because most requests need none.
 */
export function disconnectedSignal({ raw }: FastifyReply): () => AbortSignal {
  let controller: AbortController | undefined;
  return () => {
    if (!controller) {
      const created = new AbortController();
      controller = created;
      if (raw.destroyed) created.abort();
      else raw.once('close', () => created.abort());
    }
    return controller.signal;
  };
}
