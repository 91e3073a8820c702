import { inSection } from '../requirement.ts';

/** `GET /v1/sessions/:id/risk`. */
export const risk = inSection('GET /v1/sessions/:id/risk', [
  [
    'RSK-01',
    'MUST',
    ['score', 'What the service does: risk score'],
    'The risk of a session holds a score, a number.',
  ],
  [
    'RSK-02',
    'MUST',
    ['ten dimensions', 'What the service does: ten dimensions'],
    'The risk of a session is told in ten dimensions.',
  ],
  [
    'RSK-03',
    'MUST',
    ['factors and recommendations', 'What the service does: factors and recommendations'],
    'The risk of a session comes with factors that explain it, and with recommendations.',
  ],
  [
    'RSK-04',
    'OPEN',
    ['What the service does: OWASP categories'],
    'Which names of OWASP the ten dimensions bear.',
  ],
]);
