import type { RpcMessage } from '../messages/json-rpc.ts';

const cancelMethod = 'notifications/cancelled';

/** A client's notification that it does not want a response any more. */
export interface Cancellation {
  readonly requestId: unknown;
  /** Reason for the record: clients cancel calls that take too long in the same way. */
  readonly reason: DOMException;
}

/** Reads a cancellation (Model Context Protocol, "Cancellation"); undefined for another message. */
export function cancellationIn({ method, params }: RpcMessage): Cancellation | undefined {
  if (method !== cancelMethod) return undefined;
  const { requestId, reason } = (params ?? {}) as { readonly requestId?: unknown; readonly reason?: unknown };
  if (requestId === undefined) return undefined;
  const isTimeout = typeof reason === 'string' && /timed? ?out/i.test(reason);
  return {
    requestId,
    reason: isTimeout
      ? new DOMException('The client gave up the call after its time limit.', 'TimeoutError')
      : new DOMException('The client canceled the call.', 'AbortError'),
  };
}
