import { errorText, lineOf, messagesOf, rpcErrors } from '../messages/json-rpc.ts';

/**
 * Returns the response to a message that the server may read in another way than the gateway: it was not forwarded.
 *
 * @param value - the parsed message; undefined if it is not JSON
 * @param problem - end of a sentence, such as `has a member twice`
 */
export function refusalOf(value: unknown, problem: string): Buffer {
  const message =
    `The message ${problem}, so that its tool call cannot be checked, and was not forwarded. ` +
    'Send it as one JSON-RPC message in UTF-8 with each member once.';
  const code = value === undefined ? rpcErrors.parseError : rpcErrors.invalidRequest;
  const requests = messagesOf(value).filter(({ id, method }) => id !== undefined && method !== undefined);
  const ids = requests.length === 0 ? [null] : requests.map(({ id }) => id);
  const responses = ids.map((id) => errorText(id, code, message));
  return lineOf(Array.isArray(value) ? `[${responses.join(',')}]` : responses.join(''));
}
