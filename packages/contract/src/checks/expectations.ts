import { type Answer, codeOf, errorOf, isObject, type JsonObject, succeeded, told } from '../http/answer.ts';
import { fail } from '../outcome.ts';

/** Fails unless the request succeeded. */
export function expectSuccess(answer: Answer): void {
  if (!succeeded(answer)) fail(`${told(answer)}; a 2xx status is expected`);
}

/** Fails unless the request was refused, and not because the endpoint is missing or the service broke. */
export function expectRefusal(answer: Answer, why: string): void {
  if (answer.status < 400) fail(`${told(answer)}, though ${why}`);
  if (answer.status >= 500) fail(`${told(answer)}: the service broke where it should refuse, because ${why}`);
}

/** Fails unless the answer has this status. */
export function expectStatus(answer: Answer, status: number): void {
  if (answer.status !== status) fail(`${told(answer)}; status ${status} is expected`);
}

/** Fails unless the answer is a refusal with this code. */
export function expectCode(answer: Answer, code: string): void {
  const found = codeOf(answer);
  if (answer.status < 400 || found !== code)
    fail(`${told(answer)}; an error with the code ${code} is expected`);
}

/** Fails unless the answer is the error envelope. */
export function expectEnvelope(answer: Answer): void {
  if (answer.status < 400) fail(`${told(answer)}; an error is expected`);
  if (typeof errorOf(answer)?.code !== 'string') fail(`${told(answer)}, which has no error.code`);
}

/** The answer as a JSON object; fails where it is none. */
export function expectObject(answer: Answer): JsonObject {
  expectSuccess(answer);
  return isObject(answer.json) ? answer.json : fail(`${told(answer)}, which is no JSON object`);
}
