import { inSection } from '../requirement.ts';

/** Requirements for `GET /v1/sessions/:id/risk`. */
export const risk = inSection('GET /v1/sessions/:id/risk', [
  [
    'RSK-01',
    'MUST',
    ['score', 'What the service does: risk score'],
    'The risk of a session has a numeric score, besides those of its dimensions.',
  ],
  [
    'RSK-02',
    'MUST',
    ['ten dimensions', 'What the service does: ten dimensions'],
    'The risk of a session has ten different dimensions with scores.',
  ],
  [
    'RSK-03',
    'MUST',
    ['factors and recommendations', 'What the service does: factors and recommendations'],
    'The risk of a session has factors that explain it, and recommendations.',
  ],
  ['RSK-04', 'OPEN', ['What the service does: OWASP categories'], 'OWASP names of the ten dimensions.'],
]);
