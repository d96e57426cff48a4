import { createClient } from "@supabase/supabase-js";
import { createApp } from "vue";
import App from "./App.vue";

const { VITE_SUPABASE_URL, VITE_SUPABASE_PUBLISHABLE_KEY } = import.meta.env;
const supabase = createClient(VITE_SUPABASE_URL, VITE_SUPABASE_PUBLISHABLE_KEY);

// A new user for this browser. Put your own sign-in here.
const { data } = await supabase.auth.getSession();
const email = `${crypto.randomUUID()}@example.com`;
if (!data.session) await supabase.auth.signUp({ email, password: crypto.randomUUID() });
createApp(App, { supabase, agent: "writer" }).mount("#app");
