export { compose, type Choices, type Surroundings } from './compose.ts';
