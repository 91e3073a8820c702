/** A tool call that a model requests, in any provider's format. */
export interface RequestedCall {
  /** The provider's id of the call, if it has one. */
  readonly id?: string | undefined;
  readonly name: string;
  /** Namespace of the tool; tools of different namespaces may have the same name. */
  readonly namespace?: string | undefined;
  /** An object, or its JSON text as the model wrote it. */
  readonly arguments: unknown;
  /** `true` if the arguments are free-form text instead of JSON. */
  readonly isFreeText?: boolean | undefined;
  /** `true` if the call may lack a part, because the model's output was cut off. */
  readonly isTruncated?: boolean | undefined;
}

/** Arguments of a call as a value, with the problem if the call cannot run with them. */
export type ReadArguments = { readonly value: unknown; readonly problem?: string };

/** Reads the arguments of a call: JSON text is parsed, free-form text stays, and no arguments are an empty object. */
export function readArguments({ arguments: given, isFreeText, isTruncated }: RequestedCall): ReadArguments {
  const read = typeof given === 'string' && !isFreeText ? parse(given) : { value: given ?? {} };
  return isTruncated ? { ...read, problem: 'The call was truncated.' } : read;
}

function parse(text: string): ReadArguments {
  if (text.trim() === '') return { value: {} };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { value: text, problem: 'The arguments are not JSON.' };
  }
}

/** Marks the last call of an output that was cut off. */
export function markTruncated(calls: readonly RequestedCall[], isTruncated: boolean): RequestedCall[] {
  return calls.map((call, index) =>
    isTruncated && index === calls.length - 1 ? { ...call, isTruncated } : call,
  );
}
