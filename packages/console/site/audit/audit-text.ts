import type { AuditEntry } from '@actlog/protocol';
import { href } from '../route.ts';

/** Returns a kind of change as words: `webhook.secret_rotated` becomes "webhook secret rotated". */
export function actionText(action: string): string {
  return action.replaceAll(/[._]/g, ' ');
}

/** Returns the author of a change as words: the person if there is one, else the name of the key. */
export function actorText({ kind, id, name, principal }: AuditEntry['actor']): string {
  if (kind === 'server') return 'The server';
  if (kind === 'operator') return 'The server’s command';
  return principal ?? name ?? id ?? 'A key';
}

/** Returns a value of a field as text; undefined for none. */
export function valueText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') return value;
  const isList = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
  return isList ? value.join(', ') : JSON.stringify(value);
}

/** Returns the address of the page of a changed thing; undefined if it has none. */
export function targetHref(
  { kind, id }: AuditEntry['target'],
  action: AuditEntry['action'],
): string | undefined {
  switch (kind) {
    case 'held_action':
      return action === 'held_action.partially_approved'
        ? href(['approvals'])
        : href(['approvals'], { status: action.replace('held_action.', '') });
    case 'judgment':
      return href(['judgments'], action === 'judgment.ended' ? { status: 'ended' } : {});
    case 'grant':
      return href(['approvals'], { status: 'grants' });
    case 'policy':
      return href(['policies', id]);
    case 'webhook':
      return href(['webhooks', id]);
    case 'session':
      return href(['sessions', id]);
    case 'agent':
      return href(['sessions'], { agent: id });
    case 'key':
    case 'sign_in':
      return href(['keys']);
    default:
      return undefined;
  }
}
