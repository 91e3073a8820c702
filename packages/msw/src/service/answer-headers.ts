import { headers as names } from '@actlog/protocol';
import { v4 } from 'uuid';

/** The headers of an answer, as the reference server sends them; each answer has its own request id. */
export function answerHeaders(): Headers {
  return new Headers({
    [names.contentType]: 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    [names.requestId]: v4(),
  });
}
