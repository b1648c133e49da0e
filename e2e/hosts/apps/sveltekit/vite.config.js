import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';

// SvelteKit 2 ignores the options, and reads svelte.config.js.
export default { plugins: [sveltekit({ adapter: adapter() })] };
