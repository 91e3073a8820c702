import { headers as names } from '@actlog/protocol';
import { v4 } from 'uuid';

/** Creates the response headers of the reference server; each response has its own request id. */
export function responseHeaders(): Headers {
  return new Headers({
    [names.contentType]: 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    [names.requestId]: v4(),
  });
}
