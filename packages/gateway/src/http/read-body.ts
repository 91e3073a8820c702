import type { IncomingMessage } from 'node:http';

/** Maximum size of a message, in bytes. */
const maxBytes = 64 * 1024 * 1024;

/** Reads the body of a request; undefined if it is larger than 64 MiB. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  }
  return size <= maxBytes ? Buffer.concat(chunks) : undefined;
}
