/** The most that a message quotes of an answer, in characters. */
const longestQuote = 160;

/** A whole answer, as it came. */
export interface Answer {
  readonly method: string;
  /** Path below the base address, with its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** The body, or an empty text. */
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown;
}

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the status says that the request succeeded. */
export function succeeded({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** Whether a gateway in front of the service answered, which may not know the envelope. */
export function isGatewayError({ status }: Answer): boolean {
  return status === 502 || status === 503 || status === 504;
}

/** The error of an envelope; undefined where there is none. */
export function errorOf({ json }: Answer): JsonObject | undefined {
  return isObject(json) && isObject(json.error) ? json.error : undefined;
}

/** The code of an envelope; undefined where there is none. */
export function codeOf(answer: Answer): string | undefined {
  const code = errorOf(answer)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** An answer in a few words: what was asked, the status, and what came. */
export function told(answer: Answer): string {
  const { method, path, status, text } = answer;
  const code = codeOf(answer);
  const quote = text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text;
  return `${method} ${path} was answered with ${status}${code !== undefined ? ` ${code}` : quote ? ` and ${quote}` : ''}`;
}
