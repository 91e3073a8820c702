import {
  type ApiResponse,
  codeOf,
  describeResponse,
  errorOf,
  isObject,
  type JsonObject,
  succeeded,
} from '../http/api-response.ts';
import { fail } from '../outcome.ts';

/** Fails unless the request succeeded. */
export function expectSuccess(response: ApiResponse): void {
  if (!succeeded(response)) fail(`${describeResponse(response)}; expected a 2xx status`);
}

/**
 * Fails unless the request was rejected by the service; a missing endpoint or a server error does not count.
 */
export function expectRefusal(response: ApiResponse, why: string): void {
  if (response.status < 400) fail(`${describeResponse(response)}, although ${why}`);
  if (response.status >= 500)
    fail(`${describeResponse(response)}: expected a rejection instead of a server error, because ${why}`);
}

/** Fails unless the response has this status. */
export function expectStatus(response: ApiResponse, status: number): void {
  if (response.status !== status) fail(`${describeResponse(response)}; expected status ${status}`);
}

/** Fails unless the response is an error with this code. */
export function expectCode(response: ApiResponse, code: string): void {
  const found = codeOf(response);
  if (response.status < 400 || found !== code)
    fail(`${describeResponse(response)}; expected an error with the code ${code}`);
}

/** Fails unless the response is an error envelope. */
export function expectEnvelope(response: ApiResponse): void {
  if (response.status < 400) fail(`${describeResponse(response)}; expected an error`);
  if (typeof errorOf(response)?.code !== 'string')
    fail(`${describeResponse(response)}, which has no error.code`);
}

/** Returns the response as a JSON object; fails if it is not one. */
export function expectObject(response: ApiResponse): JsonObject {
  expectSuccess(response);
  return isObject(response.json)
    ? response.json
    : fail(`${describeResponse(response)}, which is not a JSON object`);
}
