//! Tables of an operation's functions, as openssl/core_dispatch.h numbers and types them: read
//! from the provider that is delegated to, and written for the core that loads this one.

use std::ffi::{c_char, c_int, c_uchar, c_void};

use super::{Callback, CoreHandle, Dispatch, OSSL_PARAM};

type Context = *mut c_void;
type Key = *mut c_void;
type Bytes = *const c_uchar;
type BytesMut = *mut c_uchar;
type Params = *const OSSL_PARAM;
type ParamsMut = *mut OSSL_PARAM;
type Size = *mut usize;

macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($id:literal $field:ident ($($arg:ty),*) $(-> $ret:ty)?;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct $name {
            $(pub $field: Option<unsafe extern "C" fn($($arg),*) $(-> $ret)?>,)*
        }

        impl $name {
            /// Reads a table, leaving out what is not known here.
            ///
            /// # Safety
            /// `dispatch` is a terminated table of this operation's functions.
            #[allow(dead_code)] // some tables are only read, one only written
            pub(crate) unsafe fn read(mut dispatch: *const Dispatch) -> Self {
                let mut table = Self::default();
                // SAFETY: the caller's table has its terminator, and each number stands for the
                // type that the public header gives it.
                unsafe {
                    while (*dispatch).id != 0 {
                        match (*dispatch).id {
                            $($id => table.$field = std::mem::transmute::<
                                Option<unsafe extern "C" fn()>,
                                Option<unsafe extern "C" fn($($arg),*) $(-> $ret)?>,
                            >((*dispatch).function),)*
                            _ => {}
                        }
                        dispatch = dispatch.add(1);
                    }
                }
                table
            }

            /// The table for the core, terminated.
            #[allow(dead_code)] // some tables are only read, one only written
            pub(crate) fn write(&self) -> Box<[Dispatch]> {
                let mut table = Vec::new();
                $(if let Some(function) = self.$field {
                    // SAFETY: a function pointer as an untyped one, which the core turns back by
                    // its number.
                    let function = unsafe {
                        std::mem::transmute::<
                            unsafe extern "C" fn($($arg),*) $(-> $ret)?,
                            unsafe extern "C" fn(),
                        >(function)
                    };
                    table.push(Dispatch { id: $id, function: Some(function) });
                })*
                table.push(Dispatch { id: 0, function: None });
                table.into()
            }
        }
    };
}

table! {
    /// What the core offers to providers.
    Core {
        2 get_params(*const CoreHandle, ParamsMut) -> c_int;
    }
}

table! {
    /// What a provider offers to the core.
    ProviderFunctions {
        1024 teardown(*mut c_void);
        1025 gettable_params(*mut c_void) -> Params;
        1026 get_params(*mut c_void, ParamsMut) -> c_int;
        1027 query_operation(*mut c_void, c_int, *mut c_int) -> *const super::Algorithm;
        1030 get_capabilities(*mut c_void, *const c_char, Option<Callback>, *mut c_void) -> c_int;
    }
}

table! {
    /// Keys.
    Keymgmt {
        1 new(*mut c_void) -> Key;
        2 gen_init(*mut c_void, c_int, Params) -> Context;
        3 gen_set_template(Context, Key) -> c_int;
        4 gen_set_params(Context, Params) -> c_int;
        5 gen_settable_params(Context, *mut c_void) -> Params;
        6 generate(Context, Option<Callback>, *mut c_void) -> Key;
        7 gen_cleanup(Context);
        10 free(Key);
        11 get_params(Key, ParamsMut) -> c_int;
        12 gettable_params(*mut c_void) -> Params;
        13 set_params(Key, Params) -> c_int;
        14 settable_params(*mut c_void) -> Params;
        20 query_operation_name(c_int) -> *const c_char;
        21 has(Key, c_int) -> c_int;
        22 validate(Key, c_int, c_int) -> c_int;
        23 matches(Key, Key, c_int) -> c_int;
        40 import(Key, c_int, Params) -> c_int;
        41 import_types(c_int) -> Params;
        42 export(Key, c_int, Option<Callback>, *mut c_void) -> c_int;
        43 export_types(c_int) -> Params;
        44 dup(Key, c_int) -> Key;
    }
}

table! {
    /// Signatures.
    Signature {
        1 newctx(*mut c_void, *const c_char) -> Context;
        2 sign_init(Context, Key, Params) -> c_int;
        3 sign(Context, BytesMut, Size, usize, Bytes, usize) -> c_int;
        4 verify_init(Context, Key, Params) -> c_int;
        5 verify(Context, Bytes, usize, Bytes, usize) -> c_int;
        6 verify_recover_init(Context, Key, Params) -> c_int;
        7 verify_recover(Context, BytesMut, Size, usize, Bytes, usize) -> c_int;
        8 digest_sign_init(Context, *const c_char, Key, Params) -> c_int;
        9 digest_sign_update(Context, Bytes, usize) -> c_int;
        10 digest_sign_final(Context, BytesMut, Size, usize) -> c_int;
        11 digest_sign(Context, BytesMut, Size, usize, Bytes, usize) -> c_int;
        12 digest_verify_init(Context, *const c_char, Key, Params) -> c_int;
        13 digest_verify_update(Context, Bytes, usize) -> c_int;
        14 digest_verify_final(Context, Bytes, usize) -> c_int;
        15 digest_verify(Context, Bytes, usize, Bytes, usize) -> c_int;
        16 freectx(Context);
        17 dupctx(Context) -> Context;
        18 get_ctx_params(Context, ParamsMut) -> c_int;
        19 gettable_ctx_params(Context, *mut c_void) -> Params;
        20 set_ctx_params(Context, Params) -> c_int;
        21 settable_ctx_params(Context, *mut c_void) -> Params;
        22 get_ctx_md_params(Context, ParamsMut) -> c_int;
        23 gettable_ctx_md_params(Context) -> Params;
        24 set_ctx_md_params(Context, Params) -> c_int;
        25 settable_ctx_md_params(Context) -> Params;
    }
}

table! {
    /// Key exchange.
    Keyexch {
        1 newctx(*mut c_void) -> Context;
        2 init(Context, Key, Params) -> c_int;
        3 derive(Context, BytesMut, Size, usize) -> c_int;
        4 set_peer(Context, Key) -> c_int;
        5 freectx(Context);
        6 dupctx(Context) -> Context;
        7 set_ctx_params(Context, Params) -> c_int;
        8 settable_ctx_params(Context, *mut c_void) -> Params;
        9 get_ctx_params(Context, ParamsMut) -> c_int;
        10 gettable_ctx_params(Context, *mut c_void) -> Params;
    }
}

table! {
    /// Encryption.
    AsymCipher {
        1 newctx(*mut c_void) -> Context;
        2 encrypt_init(Context, Key, Params) -> c_int;
        3 encrypt(Context, BytesMut, Size, usize, Bytes, usize) -> c_int;
        4 decrypt_init(Context, Key, Params) -> c_int;
        5 decrypt(Context, BytesMut, Size, usize, Bytes, usize) -> c_int;
        6 freectx(Context);
        7 dupctx(Context) -> Context;
        8 get_ctx_params(Context, ParamsMut) -> c_int;
        9 gettable_ctx_params(Context, *mut c_void) -> Params;
        10 set_ctx_params(Context, Params) -> c_int;
        11 settable_ctx_params(Context, *mut c_void) -> Params;
    }
}
