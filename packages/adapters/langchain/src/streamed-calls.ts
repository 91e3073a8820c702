import type { RequestedCall } from './open-requests.ts';

/** A part of a streamed call. */
interface CallChunk {
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly args?: string | undefined;
}

/** Calls in the chunks of a streamed response. */
export class StreamedCalls {
  readonly #parts = new Map<string | number, { id: string | undefined; name: string; args: string[] }>();
  readonly #whole: RequestedCall[] = [];

  /** Adds a chunk of the response. */
  add(chunk: unknown): void {
    const { tool_call_chunks: parts, tool_calls: whole } = (chunk ?? {}) as {
      tool_call_chunks?: readonly CallChunk[];
      tool_calls?: readonly RequestedCall[];
    };
    if (Array.isArray(parts) && parts.length > 0) for (const part of parts) this.#addPart(part);
    else if (Array.isArray(whole)) this.#whole.push(...whole);
  }

  /** Returns the calls of all chunks so far. */
  calls(): RequestedCall[] {
    const parts = [...this.#parts.values()].map(({ id, name, args }) => ({
      id,
      name,
      args: parsed(args.join('')),
    }));
    return [...this.#whole, ...parts];
  }

  #addPart({ index, id, name = '', args = '' }: CallChunk): void {
    const key = index ?? id ?? this.#parts.size;
    const part = this.#parts.get(key) ?? { id, name: '', args: [] };
    this.#parts.set(key, part);
    part.id ??= id;
    part.name += name;
    part.args.push(args);
  }
}

function parsed(args: string): unknown {
  try {
    return JSON.parse(args || '{}');
  } catch {
    return args; // the model wrote something else
  }
}
