import { ActlogError, APIConnectionError, APIError } from '@actlog/client';
import { Retry } from './retry.tsx';

/** A finding of the service about one field. */
interface Finding {
  readonly path: string;
  readonly message: string;
}

function findings(error: unknown): Finding[] {
  const details = error instanceof APIError ? error.details : [];
  return details.filter(
    (detail): detail is Finding =>
      typeof detail === 'object' && detail !== null && 'path' in detail && 'message' in detail,
  );
}

/** What an error says to a person. A program wants to know of the request as well, which stands around that. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof APIError)) return error.message;
  const { message, method, path, status, code, requestId } = error;
  const before = `${method} ${path} answered ${status} ${code}: `;
  const behind = requestId === undefined ? '' : ` (request ${requestId})`;
  if (!message.startsWith(before) || !message.endsWith(behind)) return message;
  return message.slice(before.length, message.length - behind.length);
}

/** What a person has to know where no answer came; undefined where one did. */
function unanswered(error: unknown): string | undefined {
  if (!(error instanceof APIConnectionError)) return undefined;
  if (error.method === 'GET') return 'The service cannot be reached.';
  return 'The service did not answer: what you asked for may have been done or not.';
}

/** Whether a message, which has one line and may be cut short, says no more than a finding. */
function isTold(finding: Finding, message: string): boolean {
  const words = (text: string) => text.replace(/\p{Cc}+/gu, ' ').slice(0, 100);
  return message.includes(words(String(finding.message)));
}

/** What went wrong, in the service's own words, and by what its operator can find it. Nothing where nothing did. */
export function Problem({
  error,
  onRetry,
}: {
  error: unknown;
  /** Asks again, where the page does not by itself. */
  onRetry?: () => void;
}) {
  if (error === undefined) return null;
  const message = messageOf(error);
  const found = findings(error);
  const requestId = error instanceof ActlogError ? error.requestId : undefined;
  const silence = unanswered(error);
  return (
    <div class="problem" role="alert">
      {silence === undefined && found.some((finding) => isTold(finding, message)) ? null : (
        <p>{silence ?? message}</p>
      )}
      {silence !== undefined && <p class="faint">{message}</p>}
      {found.length > 0 && (
        <ul>
          {found.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {requestId !== undefined && <p class="faint">Request {requestId}</p>}
      {onRetry !== undefined && <Retry error={error} onRetry={onRetry} />}
    </div>
  );
}
