import { useState } from 'preact/hooks';
import { noticeState, switchNotices } from '../../desktop-notice.ts';

/** Button that turns desktop notifications of waiting actions on or off. */
export function NoticeSwitch() {
  const [state, setState] = useState(noticeState);
  if (state === 'unavailable') return null;
  if (state === 'blocked') {
    return <span class="faint">The browser blocks notifications of this page.</span>;
  }
  const isOn = state === 'on';
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={isOn}
      onClick={() => void switchNotices(!isOn).then(setState)}
    >
      Desktop notifications: {isOn ? 'on' : 'off'}
    </button>
  );
}
