import { AdapterCalls, type AdapterOptions, type AdapterTraits } from '@actlog/recorder/adapter';
import { type AgentResponse, contentOfResponse, statusOfResponse } from './response.ts';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Options of {@link actlog}: the options of every adapter, and the name of the called agent. */
export interface ActlogOptions extends AdapterOptions {
  /**
   * Name of the agent that is called, under which its calls are recorded and checked. Default: for a client, the `name`
   * of the agent card; for an executor `receive_message`.
   */
  readonly name?: string | undefined;
}

/** Statuses by the reasons of A2A errors (A2A specification, "A2A-Specific Errors"). */
const statusesByReason: ReadonlyMap<unknown, number> = new Map([
  ['INVALID_PARAMS', 400],
  ['CONTENT_TYPE_NOT_SUPPORTED', 400],
  ['UNSUPPORTED_OPERATION', 400],
  ['PUSH_NOTIFICATION_NOT_SUPPORTED', 400],
  ['EXTENSION_SUPPORT_REQUIRED', 400],
  ['VERSION_NOT_SUPPORTED', 400],
  ['TASK_NOT_CANCELABLE', 400],
  ['TASK_NOT_FOUND', 404],
]);

/** Messages with which the JSON-RPC transport reports an HTTP status. */
const httpError = /^HTTP error (?:for \S+! Status:|establishing stream for \S+:) (\d{3}) /;

/** Creates the `AdapterCalls` of this adapter. */
export function a2aCalls({ name, ...options }: ActlogOptions): AdapterCalls {
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw new TypeError(
      `name must be a non-empty string, got ${JSON.stringify(name) ?? typeof name}: pass the agent's name, or omit it.`,
    );
  }
  return new AdapterCalls(
    {
      framework: 'a2a',
      sdk: `@actlog/a2a/${version}`,
      form: 'actlog(client, { guard })',
      optionNames: ['name'],
      statusOf,
      resultOf: (result) => contentOfResponse(result as AgentResponse),
    },
    options,
  );
}

const statusOf: AdapterTraits['statusOf'] = (outcome, { signal }) => {
  if (outcome.ok) return statusOfResponse(outcome.result as AgentResponse);
  return signal?.aborted ? undefined : statusOfError(outcome.error);
};

/** Returns the status of an error that the recorder's table does not know; undefined for any other. */
function statusOfError(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { statusCode } = error as { statusCode?: unknown };
  if (statusCode !== undefined) return undefined;
  // An error in a stream has the agent's error as its cause.
  const reasons = [error, error.cause].map((thrown) => (thrown as { reason?: unknown } | undefined)?.reason);
  const known = reasons.map((reason) => statusesByReason.get(reason)).find((status) => status !== undefined);
  if (known !== undefined) return known;
  const status = Number(httpError.exec(error.message)?.[1]);
  return status >= 300 ? status : undefined;
}
