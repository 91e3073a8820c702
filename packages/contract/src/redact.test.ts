import { expect, it } from 'vitest';
import { Redaction } from './world/deployment.ts';

it.each([
  ['the key of the run, whatever it looks like', 'sent my own key', 'sent [redacted]'],
  ['any key', 'Bearer al_live_abc123, "al_test_x.y"', 'Bearer al_live_[redacted] "al_test_[redacted]"'],
  ['a secret of a webhook', '{"secret":"whsec_c2Vj+/="}', '{"secret":"whsec_[redacted]"}'],
  ['the key in Basic, and altered', 'bXkgb3duIGtleTo= my own0000', '[redacted] [redacted]0000'],
  ['nothing else', 'al_other_abc is shown', 'al_other_abc is shown'],
])('redacts %s', (_what, text, expected) => {
  expect(new Redaction(['my own key', undefined, '']).text(text)).toBe(expected);
});
