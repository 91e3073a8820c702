import { keepPreference, readPreference } from './preference.ts';

const name = 'notify';

/** State of desktop notifications: `unavailable` without HTTPS, `blocked` by the user in the browser's settings. */
export type NoticeState = 'unavailable' | 'blocked' | 'off' | 'on';

/** Returns the state of desktop notifications. */
export function noticeState(): NoticeState {
  if (!('Notification' in globalThis) || !isSecureContext) return 'unavailable';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && readPreference(name) === 'on' ? 'on' : 'off';
}

/** Turns desktop notifications on, for which the browser asks the user, or off. Returns the new state. */
export async function switchNotices(isOn: boolean): Promise<NoticeState> {
  if (isOn && Notification.permission === 'default') await Notification.requestPermission();
  keepPreference(name, isOn ? 'on' : 'off');
  dispatchEvent(new Event('actlog-notices'));
  return noticeState();
}

/**
 * Notifies the user that actions wait, if notifications are on. It says nothing about the actions, because it can show
 * on a locked screen.
 */
export function notifyWaiting(count: string): void {
  if (noticeState() !== 'on') return;
  const text = count === '1' ? '1 action waits for approval.' : `${count} actions wait for approval.`;
  // One notification that is replaced, not a pile of them.
  const notice = new Notification('actlog', { body: text, tag: 'actlog-waiting' });
  notice.onclick = () => {
    window.focus();
    location.hash = '#/approvals';
    notice.close();
  };
}
