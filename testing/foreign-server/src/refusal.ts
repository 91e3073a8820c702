/** A JSON object. */
export type Json = Record<string, unknown>;

/** `true` if a value is a JSON object. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Error response of a service. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Returns a text of a body; throws the refusal of a body without it. */
export function requiredText(body: Json, name: string): string {
  const value = body[name];
  if (typeof value === 'string') return value;
  throw new Refusal(422, 'VALIDATION_ERROR', `${name} is needed.`);
}

/** Returns a record; throws the refusal of a request for a record that does not exist. */
export function found<Value>(value: Value | undefined): Value {
  return value ?? nothing();
}

/** Throws the refusal of a request for a record that does not exist. */
export function nothing(): never {
  throw new Refusal(404, 'nothing-here', 'There is no such thing.');
}

/** Returns a body as a JSON object; throws the refusal of any other body. */
export function parsedBody(body: string): Json {
  try {
    const value: unknown = JSON.parse(body);
    if (isJson(value)) return value;
  } catch {
    // rejected below
  }
  throw new Refusal(400, 'not-json', 'An object in JSON is needed.');
}
