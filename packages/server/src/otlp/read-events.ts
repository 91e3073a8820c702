import type { FastifyRequest } from 'fastify';
import type { Services } from '../services.ts';
import { maxBodyBytes, maxDecodedBytes } from './body-limits.ts';
import { decompress, isGzip } from './decompress.ts';
import { DecodingMemory } from './encoded-span.ts';
import type { Encoding } from './encoding.ts';
import { jsonSpans } from './json-spans.ts';
import { protobufSpans } from './protobuf-spans.ts';
import { type ToolSpanEvents, toolSpanEvents } from './tool-span-events.ts';

const noBytes = Buffer.alloc(0);

/**
 * Reads the events of a request's body in its tenant's turns, with memory reserved for each step.
 *
 * @throws ApiError `VALIDATION_ERROR` for a body that is not valid, `PAYLOAD_TOO_LARGE` for one beyond a limit,
 *   `OVERLOADED` when there is no memory for it. Nothing is recorded.
 */
export async function readEvents(
  { tenantTurns, traceMemory }: Services,
  tenantId: number,
  encoding: Encoding,
  request: FastifyRequest,
): Promise<ToolSpanEvents> {
  const sent = (request.body as Buffer | undefined) ?? noBytes;
  const bytes = isGzip(request.headers['content-encoding']) ? await decompressed(request, sent) : sent;
  tenantTurns.note(tenantId);
  return tenantTurns.run(tenantId, (turn) => {
    const maxBytes = Math.min(maxDecodedBytes, traceMemory.maxBytes);
    const memory = new DecodingMemory(maxBytes, (size) => request.bodyMemory?.resize(size));
    memory.hold(bytes.length);
    const spans = encoding === 'json' ? jsonSpans(bytes, memory, turn) : protobufSpans(bytes, memory);
    return toolSpanEvents(spans, turn);
  });
}

function decompressed(request: FastifyRequest, sent: Buffer): Promise<Buffer> {
  // The size is only known afterwards, because a body may claim any.
  request.bodyMemory?.resize(sent.length + maxBodyBytes);
  return decompress(sent);
}
