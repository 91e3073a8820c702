import type { OutputFormat } from './output-format.ts';

/** A call of any other provider. */
export interface PlainCall {
  readonly id?: string | undefined;
  readonly name: string;
  /** An object, or its JSON text. */
  readonly arguments?: unknown;
}

export const plainFormat: OutputFormat = {
  callsIn: (output) =>
    Array.isArray(output)
      ? (output as readonly PlainCall[]).map(({ id, name, arguments: given }) => ({
          id,
          name,
          arguments: given,
        }))
      : undefined,
  messagesOf: (results) => [...results],
};
