import type { PendingAction } from '@actlog/client';

/** Formats a duration: `45 s`, `12 min`, `3 h`. */
export function inWords(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** Removes control characters, because an agent's texts must not control the terminal. */
const plain = (text: string) => text.replaceAll(/[^\P{C}\n]/gu, '�');

/** Formats a held action on one line: the agent, the action, the waiting time and the timeout. */
export function actionLine(held: PendingAction, nowMs: number): string {
  const { id, agentId, sessionId, action, createdAt = '', expiresAt = '', onTimeout } = held;
  const shown = JSON.stringify(action?.arguments ?? {});
  const waited = inWords(nowMs - Date.parse(createdAt));
  const left = inWords(Date.parse(expiresAt) - nowMs);
  return plain(
    `${id}  ${action?.toolName} ${shown}  by ${agentId} in ${sessionId}  waits ${waited}, ${onTimeout} in ${left}`,
  );
}

/** Formats the outcome of an action on one line. */
export function endLine({ id, status, action, decision }: PendingAction): string {
  const comment = decision?.comment ? `: ${decision.comment}` : '';
  return plain(`${id}  ${action?.toolName}  ${status}${comment}`);
}
