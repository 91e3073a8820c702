// What opencode loads, as its users name it in `opencode.json`.
export { actlog } from '@actlog/opencode';
